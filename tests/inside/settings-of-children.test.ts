import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hashLeaf } from '@atrium/log/merkle'
import { parseNote } from '@atrium/log/note'
import { judge, parsePolicy } from '@atrium/log/policy'
import { Vault } from '@atrium/server/crypto/vault/vault'
import { openDatabase } from '@atrium/server/db/database'
import { openLogKeys } from '@atrium/server/features/transparency-log/log-keys'
import { logOrigin } from '@atrium/server/features/transparency-log/publish'
import { queueLeaves } from '@atrium/server/features/transparency-log/store'
import { publishedKeys, ReportSigner } from '../../packages/server/testing/report-signer.ts'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort, startAtrium } from '../support/atrium-process.ts'
import { askGood, call, makeTenant } from '../support/call-api.ts'
import { startLogWitness } from '../support/log-witness.ts'
import { eventually } from '../support/remote-agents.ts'

test('with several API processes, each knows the witnesses of the log and the keys that sign reports', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-settings-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const port = await freePort()
  const publicUrl = `http://localhost:${port}`
  const db = openDatabase({ url: database.url, maxConnections: 1, onConnectionError: () => undefined })
  // With the master key of the processes. The witness has to know the key of the log before the first checkpoint.
  await openLogKeys(db, new Vault([Buffer.alloc(32, 7)]), logOrigin(publicUrl))
  const entry = Buffer.from('{"type":"test"}')
  await queueLeaves(db, [{ leafHash: hashLeaf(entry), entry }])
  await db.close()
  const witness = await startLogWitness({ databaseUrl: database.url, folder, publicUrl })
  t.after(() => witness.stop())
  const policy = await witness.policy()
  const signer = new ReportSigner()
  const files = { ATRIUM_LOG_POLICY: join(folder, 'policy'), ATRIUM_LEAKS_KEYS_FILE: join(folder, 'keys.json') }
  writeFileSync(files.ATRIUM_LOG_POLICY, policy)
  writeFileSync(files.ATRIUM_LEAKS_KEYS_FILE, publishedKeys([signer]))
  const atrium = await startAtrium({ databaseUrl: database.url, port, args: ['--workers', '2'], env: files })
  t.after(() => atrium.end('SIGKILL'))
  const { origin } = atrium

  const tenant = await makeTenant(origin, 'Leaky')
  const { key } = (await askGood(origin, 'POST /v1/tenant/keys', { key: tenant.secret, body: { kind: 'secret' } })).data
  const body = JSON.stringify([{ token: key, type: 'atrium_secret_key', url: 'https://code.example/app', source: 'commit' }])
  const reported = await call(origin, 'POST /v1/tenant/keys/leaks', { body, headers: signer.headers(body) })
  assert.equal(reported.status, 200, reported.text)

  assert.equal((await call(origin, 'GET /log/policy')).text, policy)
  // The sweeps run in the job worker.
  const isWitnessed = async () => {
    const checkpoint = await call(origin, 'GET /log/checkpoint')
    return checkpoint.status === 200 && judge(parseNote(checkpoint.text), parsePolicy(policy)).isWitnessed
  }
  await eventually(isWitnessed, 'the witness cosigns the checkpoint', 60_000)
})
