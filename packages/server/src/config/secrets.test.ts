import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { readEnv } from './env.ts'
import { keepSecrets, readGivenSecrets } from './secrets.ts'

test('a master key that another process has not written yet is awaited; an empty file is refused, and stays', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-secrets-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'master-key')
  await writeFile(file, '')
  const given = { ...readGivenSecrets(readEnv({})), adminToken: 'operator-token-0001' }
  const keep = () => keepSecrets(given, folder, async () => true)
  await assert.rejects(keep(), /master-key is empty; remove it to create a new one, or restore it$/)
  const kept = keep()
  const key = randomBytes(32)
  await delay(100)
  await writeFile(file, `${key.toString('base64')}\n`)
  assert.deepEqual((await kept).masterKeys, [key])
})
