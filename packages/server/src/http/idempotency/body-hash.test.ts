import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})
after(() => api.close())

const ballot = (choice: string) => ({ type: 'vote', content: { choice } })

async function makeBox(): Promise<string> {
  const { publicKey } = await generateKeyPair('ECDH-ES+A256KW', { crv: 'P-256', extractable: true })
  const { kty, crv, x, y } = await exportJWK(publicKey)
  const made = await send(api, 'POST', '/collections', {
    key: tenant.publishableKey,
    body: { box: { recipient: { kty, crv, x, y } } },
  })
  return made.body.data.id
}

const vote = (box: string, idempotencyKey: string, choice: string) =>
  send(api, 'POST', `/collections/${box}/items`, { key: tenant.publishableKey, idempotencyKey, body: ballot(choice) })

async function storedHashes(): Promise<Buffer[]> {
  const { rows } = await api.ctx.db.pool.query<{ body_hash: Buffer }>('select body_hash from idempotency_keys')
  return rows.map((row) => row.body_hash)
}

test('the stored hash does not reveal which of the known possible bodies was sent, even with the Idempotency-Key', async () => {
  const box = await makeBox()
  const key = 'ballot 17'
  assert.equal((await vote(box, key, 'yes')).status, 201)
  const stored = await storedHashes()
  assert.ok(stored.length > 0)
  const path = `/v1/collections/${box}/items`
  const request = JSON.stringify([tenant.id, 'addItem', path, key])
  for (const choice of ['yes', 'no']) {
    const body = JSON.stringify(ballot(choice))
    const guesses = ['', key, request].flatMap((salt) => [`${salt}${body}`, `${body}${salt}`])
    for (const guess of guesses) {
      const guessed = hash('sha256', guess, 'buffer')
      for (const one of stored) assert.ok(!one.includes(guessed), `${choice} is recognised`)
    }
  }
})

test('the same body under two Idempotency-Keys leaves no equal bytes in the database', async () => {
  const box = await makeBox()
  const before = await storedHashes()
  for (const key of ['ballot 18', 'ballot 19']) assert.equal((await vote(box, key, 'yes')).status, 201)
  const fresh = (await storedHashes()).filter((one) => !before.some((old) => old.equals(one)))
  assert.equal(fresh.length, 2)
  assert.notDeepEqual(fresh[0], fresh[1])
})

test('a repeat is replayed, and another body under its key is rejected', async () => {
  const box = await makeBox()
  const first = await vote(box, 'ballot 20', 'yes')
  const again = await vote(box, 'ballot 20', 'yes')
  assert.deepEqual([again.status, again.text, again.headers.get('idempotency-status')], [201, first.text, 'replayed'])
  assert.equal((await vote(box, 'ballot 20', 'no')).body.error.code, 'idempotency_key_reused')
})

test('a plain hash of an earlier release still replays and still rejects another body, until it expires', async () => {
  const box = await makeBox()
  const before = await storedHashes()
  const first = await vote(box, 'ballot 21', 'yes')
  const stored = (await storedHashes()).find((one) => !before.some((old) => old.equals(one)))
  const plain = hash('sha256', JSON.stringify(ballot('yes')), 'buffer')
  await api.ctx.db.pool.query('update idempotency_keys set body_hash = $2 where body_hash = $1', [stored, plain])
  const again = await vote(box, 'ballot 21', 'yes')
  assert.deepEqual([again.status, again.text, again.headers.get('idempotency-status')], [201, first.text, 'replayed'])
  assert.equal((await vote(box, 'ballot 21', 'no')).body.error.code, 'idempotency_key_reused')
})
