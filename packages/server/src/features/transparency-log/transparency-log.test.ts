import { toHex } from '@atrium/log/bytes'
import { signCheckpoint } from '@atrium/log/signing'
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openCheckpoint } from '@atrium/log/checkpoint'
import { parseVerifier } from '@atrium/log/note'
import { parseProof, verifyProof } from '@atrium/log/proof'
import { makeEntries, rootByDefinition } from '@atrium/log/testing/stored-log'
import { hashLeaf } from '@atrium/log/merkle'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { logEpochs } from '#features/credits/epochs/log-epochs.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { buildLogOracle, skipWithoutGo } from '../../../../../tests/support/log-oracle.ts'
import { collectSigningKeys } from './collect-entries.ts'
import { leafOf } from './entries.ts'
import { integrateLeaves } from './integrate.ts'
import { openLogKeys } from './log-keys.ts'
import { logOrigin, publishCheckpoint } from './publish.ts'
import { getTree, queueLeaves } from './store.ts'
import { findStopped } from './witnesses.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ publicUrl: 'https://atrium.example.com' })
})
after(() => api.close())

const get = async (path: string) => {
  const res = await fetch(`${api.origin}/log/${path}`)
  return { status: res.status, headers: res.headers, bytes: Buffer.from(await res.arrayBuffer()) }
}
const getText = async (path: string) => {
  const { status, bytes } = await get(path)
  assert.equal(status, 200, path)
  return bytes.toString()
}
const queue = (entries: readonly Buffer[]) =>
  queueLeaves(
    api.ctx.db,
    entries.map((entry) => ({ leafHash: hashLeaf(entry), entry })),
  )

test('before anything is published, the log answers 404', async () => {
  for (const path of ['checkpoint', 'vkey', 'tile/0/000.p/1', 'tile/entries/000.p/1', `proof/${'0'.repeat(64)}`]) {
    assert.equal((await get(path)).status, 404, path)
  }
  await publishCheckpoint(api.ctx)
  assert.equal((await get('checkpoint')).status, 404, 'an empty tree is not signed')
})

test('the signing keys of the platform are logged, and each has an inclusion proof', async () => {
  await openLogKeys(api.ctx.db, api.ctx.vault, logOrigin(api.ctx.config.publicUrl))
  const { kid } = await api.ctx.agentIssuer.keys.current()
  await collectSigningKeys(api.ctx)
  await collectSigningKeys(api.ctx)
  assert.equal(await integrateLeaves(api.ctx.db, 100), 2, 'an entry is logged once')
  await publishCheckpoint(api.ctx)
  const vkey = parseVerifier((await getText('vkey')).trim())
  assert.equal(vkey.name, 'atrium.example.com/log')
  const [jwk] = await api.ctx.agentIssuer.keys.published()
  const { leafHash, entry } = leafOf({ type: 'signing_key', use: 'agent_tokens', jwk: jwk! })
  assert.equal(jwk?.kid, kid)
  const proof = await getText(`proof/${toHex(leafHash)}`)
  assert.equal(verifyProof(proof, entry, [vkey]).size, 2)
  assert.deepEqual(Buffer.from(parseProof(proof).extra!), entry)
  assert.equal((await get(`proof/${'0'.repeat(64)}`)).status, 404)
})

test('the published key set links the proof of each key, and any JOSE tool still reads it', async () => {
  const text = await (await fetch(`${api.origin}/.well-known/jwks.json`)).text()
  const { keys, log_proofs: proofs } = JSON.parse(text)
  await collectSigningKeys(api.ctx)
  await integrateLeaves(api.ctx.db, 100)
  await publishCheckpoint(api.ctx)
  const vkey = parseVerifier((await getText('vkey')).trim())
  assert.deepEqual(Object.keys(proofs).toSorted(), keys.map(({ kid }: { kid: string }) => kid).toSorted())
  for (const jwk of keys) {
    const proof = await (await fetch(proofs[jwk.kid].replace('https://atrium.example.com', api.origin))).text()
    const { use } = JSON.parse(Buffer.from(parseProof(proof).extra!).toString())
    verifyProof(proof, Buffer.from(JSON.stringify({ type: 'signing_key', use, jwk })), [vkey])
  }
  const token = await api.ctx.agentIssuer.issue({ id: 'agt_1', name: 'A' }, makeDeviceJwk())
  await jwtVerify(token, createLocalJWKSet(JSON.parse(text)))
})

test('an epoch links its inclusion proof, which its own fields verify', async () => {
  const { secretKey: key } = await api.makeTenant()
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const body = { public_key: publicKey.export({ format: 'jwk' }), value: 5 }
  const { epoch: id } = (await send(api, 'POST', '/epochs', { key, body })).body.data
  const { log_proof: address, ...epoch } = (await send(api, 'GET', `/epochs/${id}`, {})).body.data
  const proof = () => fetch(address.replace('https://atrium.example.com', api.origin))
  assert.equal((await proof()).status, 404, 'not integrated yet')
  assert.equal(await logEpochs(api.ctx, 100), 1)
  assert.equal(await logEpochs(api.ctx, 100), 0, 'each epoch is read once')
  await integrateLeaves(api.ctx.db, 100)
  await publishCheckpoint(api.ctx)
  const entry = Buffer.from(JSON.stringify({ type: 'epoch', ...epoch }))
  verifyProof(await (await proof()).text(), entry, [parseVerifier((await getText('vkey')).trim())])
})

test("Go's sumdb accepts the served files, and each checkpoint continues the one before", { skip: skipWithoutGo }, async () => {
  const run = await buildLogOracle()
  const folder = mkdtempSync(join(tmpdir(), 'atrium-served-log-'))
  const vkey = (await getText('vkey')).trim()
  let from = 0
  for (const count of [1, 250, 300, 700]) {
    const old = await getText('checkpoint')
    writeFileSync(join(folder, 'old'), old)
    const entries = makeEntries(count, from)
    await queue(entries)
    from += count
    while ((await integrateLeaves(api.ctx.db, 300)) === 300);
    await publishCheckpoint(api.ctx)
    writeFileSync(join(folder, 'entry'), entries[0]!)
    writeFileSync(join(folder, 'proof'), withoutExtra(await getText(`proof/${toHex(hashLeaf(entries[0]!))}`)))
    const files = ['old', 'proof', 'entry'].flatMap((name) => [`-${name}`, join(folder, name)])
    const said = await run('-vkey', vkey, ...files, `${api.origin}/log`)
    const { size } = openCheckpoint(await getText('checkpoint'), [parseVerifier(vkey)])
    assert.match(said, new RegExp(`^${size} entries are the leaves`))
    assert.match(said, new RegExp(`is in the tree of ${size} leaves\n$`))
  }
})

function makeDeviceJwk() {
  const {
    kty = '',
    crv = '',
    x = '',
    y = '',
  } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
  return { kty, crv, x, y }
}

/** The oracle reads the lines that every proof has. */
const withoutExtra = (proof: string) => proof.replace(/^extra .*\n/m, '')

test('tiles are immutable: a narrower form stays when the tile has grown', async () => {
  await queue(makeEntries(300, 50_000))
  await integrateLeaves(api.ctx.db, 300)
  await publishCheckpoint(api.ctx)
  const { size } = await getTree(api.ctx.db)
  const full = await get('tile/0/000')
  assert.equal(full.status, 200)
  assert.equal(full.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  assert.equal(full.headers.get('content-type'), 'application/octet-stream')
  assert.equal(full.headers.get('access-control-allow-origin'), '*')
  assert.deepEqual((await get('tile/0/000.p/2')).bytes, full.bytes.subarray(0, 64))
  const bundle = await get('tile/entries/000')
  assert.deepEqual(
    (await get('tile/entries/000.p/2')).bytes,
    bundle.bytes.subarray(0, (await get('tile/entries/000.p/2')).bytes.length),
  )
  const beyond = `tile/0/${String(Math.floor(size / 256)).padStart(3, '0')}.p/${(size % 256) + 1}`
  assert.ok(size >= 257)
  const tooWide = ['tile/0/000.p/256', 'tile/entries/000.p/257']
  for (const path of [beyond, beyond.replace('/0/', '/entries/'), 'tile/3/000.p/1', 'tile/0/0', ...tooWide]) {
    assert.equal((await get(path)).status, 404, path)
  }
})

test('processes that integrate at once make one tree', async () => {
  const { size } = await getTree(api.ctx.db)
  const { rows: before } = await api.ctx.db.pool.query('select entry from log_leaves order by position')
  await queue(makeEntries(500, 10_000))
  const counts = await Promise.all(Array.from({ length: 8 }, () => integrateLeaves(api.ctx.db, 100)))
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    500,
  )
  const tree = await getTree(api.ctx.db)
  assert.equal(tree.size, size + 500)
  const { rows } = await api.ctx.db.pool.query('select entry from log_leaves order by position')
  const entries = rows.map(({ entry }) => entry as Buffer)
  assert.deepEqual(
    entries.slice(0, size),
    before.map(({ entry }) => entry as Buffer),
  )
  assert.deepEqual(new Uint8Array(tree.root), rootByDefinition(entries))
})

test('a damaged tile does not become part of a signed tree', async () => {
  const { pool } = api.ctx.db
  await queue([Buffer.from('after the damage')])
  const level0 = 'level = 0 and tile = (select max(tile) from log_tiles where level = 0)'
  const { rows } = await pool.query(`select hashes from log_tiles where ${level0}`)
  await pool.query(`update log_tiles set hashes = overlay(hashes placing '\\x00' from 1 for 1) where ${level0}`)
  await assert.rejects(integrateLeaves(api.ctx.db, 100), /do not have the root/)
  await pool.query(`update log_tiles set hashes = $1 where ${level0}`, [(rows[0] as { hashes: Buffer }).hashes])
  assert.equal(await integrateLeaves(api.ctx.db, 100), 1)
})

test('a new key signs beside the retired one, so that monitors can follow', async () => {
  await publishCheckpoint(api.ctx)
  const [oldKey] = (await getText('vkey')).trim().split('\n').map(parseVerifier)
  await api.ctx.db.pool.query("update platform_keys set retired_at = now() where purpose = 'transparency_log'")
  await publishCheckpoint(api.ctx)
  const [newKey, retired] = (await getText('vkey')).trim().split('\n').map(parseVerifier)
  assert.deepEqual(retired, oldKey)
  const checkpoint = await getText('checkpoint')
  for (const key of [oldKey!, newKey!]) openCheckpoint(checkpoint, [key])
  await api.ctx.db.pool.query("update platform_keys set retired_at = now() - interval '2 days' where retired_at is not null")
  await publishCheckpoint(api.ctx)
  const later = await getText('checkpoint')
  assert.throws(() => openCheckpoint(later, [oldKey!]), /not signed by its key/)
  openCheckpoint(later, [newKey!])
})

test('a process that stood still while another one grew the log does not take its checkpoint for a lost one', async (t) => {
  const { ctx } = api
  const grow = async (entry: string) => {
    await queue([Buffer.from(entry)])
    await integrateLeaves(ctx.db, 100)
  }
  await grow('before the witness is asked')
  const witness = createServer(async (_, res) => {
    // The other process has no witness to ask.
    await grow('while the witness is asked')
    await publishCheckpoint(ctx)
    res.end(await getText('checkpoint'))
  })
  await new Promise<void>((resolve) => witness.listen(0, '127.0.0.1', resolve))
  t.after(() => witness.close())
  const url = `http://127.0.0.1:${(witness.address() as AddressInfo).port}`
  const [verifier] = (await getText('vkey')).trim().split('\n').map(parseVerifier)
  const logPolicy = { ...ctx.config.logPolicy, witnesses: [{ name: 'one', url, verifier: verifier! }] }
  await publishCheckpoint({ ...ctx, config: { ...ctx.config, logPolicy } })
  assert.equal(await findStopped(ctx.db, logOrigin(ctx.config.publicUrl)), undefined)
})

test('an older signature is never put in the place of a newer one', async () => {
  const before = await getText('checkpoint')
  const { saveCheckpoint } = await import('./checkpoint-store.ts')
  const origin = logOrigin(api.ctx.config.publicUrl)
  const signed = signCheckpoint({ origin, size: 1, root: hashLeaf(Buffer.of()) }, Buffer.alloc(32, 1))
  await saveCheckpoint(api.ctx.db, origin, { size: 1, signed })
  assert.equal(await getText('checkpoint'), before)
})
