import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, generatePrimeSync, randomBytes, verify } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { send, untilServed } from '#testing/http.ts'
import { makeModulus } from '#testing/make-modulus.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { untilBlocked } from '#testing/until-blocked.ts'
import { readEpochKey } from '../blind-token.ts'
import { EpochCache } from './epoch.ts'
import { insertEpoch } from './store.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})
after(() => api.close())

/** Looks like a modulus, which is all that can be told of one; and is made at once. */
function makeKey() {
  return { kty: 'RSA', n: makeModulus(), e: 'AQAB' }
}

const publish = (public_key: object = makeKey(), more: object = {}, options: object = {}) =>
  send(api, 'POST', '/epochs', { key: tenant.secretKey, body: { public_key, value: 10, ...more }, ...options })
const count = async () => Number((await api.ctx.db.pool.query('select count(*) from epochs')).rows[0]!.count)

describe('publishing', () => {
  test('an epoch is named by its key, and shown to anyone', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const { kty, n, e } = publicKey.export({ format: 'jwk' }) as { kty: string; n: string; e: string }
    const expires_at = '2099-01-02T03:04:05.678Z'
    const exported = { kty, n, e, use: 'sig', alg: 'PS384', ext: true, key_ops: ['verify'], kid: 'autumn' }
    const made = await publish(exported, { value: 25, expires_at })
    assert.equal(made.status, 201, made.text)
    const { epoch } = made.body.data
    assert.equal(epoch, readEpochKey({ n, e }).epoch)
    const shown = await send(api, 'GET', `/epochs/${epoch}`)
    assert.equal(shown.status, 200)
    const { created_at, log_proof, ...rest } = shown.body.data
    assert.match(log_proof, /^http.*\/log\/proof\/[0-9a-f]{64}$/)
    assert.deepEqual(rest, { epoch, issuer: tenant.id, public_key: { kty, n, e }, value: 25, expires_at })
    assert.ok(Math.abs(Date.now() - Date.parse(created_at)) < 10_000)
  })

  test('a key is published once: again, at once, for another value or by another tenant is 409', async () => {
    const key = makeKey()
    const other = await api.makeTenant()
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => untilServed(() => publish(key))),
      ...Array.from({ length: 10 }, () => untilServed(() => publish(key, {}, { key: other.secretKey }))),
    ])
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
    assert.equal(answers.filter(({ body }) => body.error?.code === 'state_conflict').length, 19)
    for (const again of [await publish({ ...key, kid: 'new name' }), await publish(key, { value: 11 })])
      assert.equal(again.body.error.code, 'state_conflict')
    const { data } = (await send(api, 'GET', `/epochs/${readEpochKey(key).epoch}`)).body
    assert.equal(data.value, 10)
  })

  test('a retry with the same Idempotency-Key replays the answer', async () => {
    const key = makeKey()
    const retry = () => untilServed(() => publish(key, {}, { idempotencyKey: 'epoch-1' }))
    const answers = await Promise.all(Array.from({ length: 5 }, retry))
    assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1)
    assert.equal(answers[0]!.status, 201)
  })

  test('it takes the issuer role, and none recorded means both', async () => {
    const before = await count()
    const make = async (roles: string[]) => {
      const headers = { 'x-admin-token': api.adminToken }
      return (await send(api, 'POST', '/tenants', { headers, body: { name: 'Roles', roles } })).body.data.secret_key as string
    }
    const [app, issuer, none] = [await make(['app']), await make(['issuer']), await make([])]
    const refused = await publish(makeKey(), {}, { key: app })
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'issuer_role_required'])
    // Who may not call is told so before anything else.
    assert.equal((await publish({}, {}, { key: app })).body.error.code, 'issuer_role_required')
    assert.equal((await publish(makeKey(), {}, { key: tenant.publishableKey })).body.error.code, 'secret_key_required')
    assert.equal(await count(), before)
    assert.equal((await publish(makeKey(), {}, { key: issuer })).status, 201)
    assert.equal((await publish(makeKey(), {}, { key: none })).status, 201)
  })

  test('weak keys, private keys and what is no key are 400, and nothing is stored', async () => {
    const before = await count()
    const good = makeKey()
    const bytes = Buffer.from(good.n, 'base64url')
    const with_ = (at: number, byte: number) => {
      const changed = Buffer.from(bytes)
      changed[at] = byte
      return { ...good, n: changed.toString('base64url') }
    }
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const weak1024 = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' })
    const refused: [object, string][] = [
      [weak1024, '/public_key/n'],
      [with_(0, 0x7f), '/public_key/n'],
      [with_(255, 0), '/public_key/n'],
      [{ ...good, n: Buffer.concat([Buffer.alloc(1), bytes]).toString('base64url') }, '/public_key/n'],
      [{ ...good, n: `${good.n}==` }, '/public_key/n'],
      [{ ...good, e: 'AQ' }, '/public_key/e'],
      [{ ...good, e: 'AQAA' }, '/public_key/e'],
      [{ ...good, e: 'AAEAAQ' }, '/public_key/e'],
      [{ ...good, e: '' }, '/public_key/e'],
      [{ ...good, kty: 'EC' }, '/public_key/kty'],
      [{ ...good, use: 'enc' }, '/public_key/use'],
      [{ ...good, d: good.n }, '/public_key/d'],
      [privateKey.export({ format: 'jwk' }), '/public_key/d'],
    ]
    for (const [key, path] of refused) {
      const { status, body, text } = await publish(key)
      assert.deepEqual([status, body.error?.code], [400, 'invalid_request'], text)
      assert.ok(
        body.error.details.some((detail: { path: string }) => detail.path === path),
        text,
      )
    }
    assert.equal(await count(), before)
  })

  test('a key that nobody could redeem with, or anyone sign with, is 400', async () => {
    const good = makeKey()
    const primeOf = (bits: number) => generatePrimeSync(bits, { bigint: true })
    const withModulus = (modulus: bigint) => {
      const hex = modulus.toString(16)
      return { ...good, n: Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url') }
    }
    const root = primeOf(1_032)
    const times = (factor: bigint) =>
      withModulus(BigInt(`0x${Buffer.from(makeModulus(2_048), 'base64url').toString('hex')}`) * factor)
    const exponent = (bytes: number) =>
      Buffer.concat([Buffer.of(0x80), randomBytes(bytes - 2), Buffer.of(1)]).toString('base64url')
    const refused: [object, string, RegExp][] = [
      [{ ...good, e: exponent(8) }, '/public_key/e', /./],
      [{ ...good, e: exponent(256) }, '/public_key/e', /./],
      [times(3n), '/public_key/n', /factor/],
      [times(997n), '/public_key/n', /factor/],
      [withModulus(root * root), '/public_key/n', /square/],
      [withModulus(primeOf(2_048)), '/public_key/n', /prime/],
    ]
    for (const [key, path, why] of refused) {
      const { status, body, text } = await publish(key)
      assert.deepEqual([status, body.error?.code, body.error?.details?.[0].path], [400, 'invalid_request', path], text)
      assert.match(body.error.details[0].message, why)
    }
    assert.equal((await publish({ ...makeKey(), e: exponent(6) })).status, 201)
  })

  test('whatever key was published, a redemption takes no more of the processor than a moment', () => {
    for (const bits of [2_048, 3_072, 4_096]) {
      const e = Buffer.alloc(6, 0xff).toString('base64url')
      const key = createPublicKey({ key: { kty: 'RSA', n: makeModulus(bits), e }, format: 'jwk' })
      const signature = Buffer.concat([Buffer.alloc(1), randomBytes(bits / 8 - 1)])
      const before = process.threadCpuUsage()
      for (let i = 0; i < 20; i++) assert.equal(verify('sha384', Buffer.from('x'), key, signature), false)
      assert.ok(process.threadCpuUsage(before).user / 20 < 3_000)
    }
  })

  test('an end that is past, or a value below one, is 400', async () => {
    const past = await publish(makeKey(), { expires_at: new Date(Date.now() - 1_000).toISOString() })
    assert.deepEqual([past.status, past.body.error.details[0].path], [400, '/expires_at'])
    for (const value of [0, -1, 1.5]) assert.equal((await publish(makeKey(), { value })).body.error.code, 'invalid_request')
    assert.equal((await publish(makeKey(), { value: Number.MAX_SAFE_INTEGER })).status, 201)
  })
})

describe('reading', () => {
  test('the list is the same for everyone, oldest first, page by page', async () => {
    const made = []
    for (let i = 0; i < 5; i++) made.push((await publish()).body.data.epoch)
    const seen: string[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const query: string = cursor && `&cursor=${cursor}`
      const page = await send(api, 'GET', `/epochs?limit=2${query}`)
      assert.equal(page.status, 200)
      seen.push(...page.body.data.map((one: { epoch: string }) => one.epoch))
      cursor = page.body.meta.next_cursor
    }
    assert.deepEqual(seen.slice(-5), made)
    assert.equal(new Set(seen).size, await count())
    assert.equal((await send(api, 'GET', '/epochs?cursor=bm9uZTox')).body.error.code, 'invalid_cursor')
  })

  test('the list grows at its end alone: an epoch waits for the one that is being published before it', async () => {
    const { publicKey, epoch: id } = readEpochKey(makeKey())
    const mayCommit = Promise.withResolvers<void>()
    const isInserted = Promise.withResolvers<void>()
    const first = api.ctx.db.transaction(async (tx) => {
      await insertEpoch(tx, { id, tenantId: tenant.id, publicKey, valueCredits: 1, expiresAt: undefined })
      isInserted.resolve()
      await mayCommit.promise
    })
    await isInserted.promise
    let published = false
    const second = publish().finally(() => (published = true))
    await Promise.race([second, untilBlocked(api.ctx.db.pool)])
    const waited = !published
    mayCommit.resolve()
    await first
    assert.ok(waited, 'the second is not published before the first')
    const { epoch } = (await second).body.data
    const { rows } = await api.ctx.db.pool.query('select id from epochs order by seq desc limit 2')
    assert.deepEqual(
      rows.map((row) => row.id),
      [epoch, id],
    )
  })

  test('browsers of any origin read it without a key, and caches may keep it for a minute', async () => {
    const { epoch } = (await publish()).body.data
    for (const path of ['/epochs', `/epochs/${epoch}`]) {
      const { status, headers } = await send(api, 'GET', path, { headers: { origin: 'https://app.example' } })
      assert.equal(status, 200)
      assert.equal(headers.get('access-control-allow-origin'), '*')
      assert.equal(headers.get('cache-control'), 'public, max-age=60')
    }
    const missing = await send(api, 'GET', `/epochs/${'A'.repeat(43)}`)
    assert.equal(missing.headers.get('cache-control'), 'no-store')
  })

  test('what is no epoch is 404, whatever its form', async () => {
    for (const id of ['A'.repeat(43), 'x', 'A'.repeat(42), `${'A'.repeat(43)}=`, '%F0%9F%98%80', "'--", tenant.id]) {
      const { status, body } = await send(api, 'GET', `/epochs/${id}`)
      assert.deepEqual([status, body.error.code], [404, 'not_found'], id)
    }
  })

  test('an epoch that was looked for too early is found once it is published', async () => {
    const key = makeKey()
    const id = readEpochKey(key).epoch
    assert.equal(await api.ctx.epochs.find(id), undefined)
    await publish(key)
    assert.equal((await api.ctx.epochs.find(id))?.tenantId, tenant.id)
  })
})

describe('what is kept', () => {
  test('the store refuses to change, delete or truncate epochs', async () => {
    await publish()
    for (const sql of ['update epochs set value = value + 1', 'delete from epochs', 'truncate epochs'])
      await assert.rejects(api.ctx.db.pool.query(sql), /an epoch is set once/)
  })

  test('an epoch is read once while it is in use, and the one used least makes room', async () => {
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.push((await publish()).body.data.epoch)
    const [a, b, c] = ids as [string, string, string]
    const read: string[] = []
    const db = api.ctx.db
    const cache = new EpochCache(
      { query: (statement, values) => (read.push(...(values[0] as string[])), db.query(statement, values)) },
      2,
    )
    for (const id of [a, b, a, c, a, b]) assert.equal((await cache.find(id))?.id, id)
    assert.deepEqual(read, [a, b, c, b])
    assert.equal(await cache.find('A'.repeat(43)), undefined)
    assert.equal(await cache.find('x'), undefined)
    assert.deepEqual(read.slice(4), ['A'.repeat(43)])
  })
})
