import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { send, sendUntilServed, type Got } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { clearOf } from '../../../../../tests/support/clear-of.ts'
import { deletePastCounts } from './limits.ts'

let api: TestApi
/** A second process of the same installation, which shares only the database. */
let sibling: TestApi
let tenant: TestTenant
before(async () => {
  const env = {
    trustProxy: 'loopback',
    paintAllowance: '200',
    paintsPerAddress: '5',
    paintsPerCollection: '8',
    uploadBytesPerAddress: '1000',
  }
  api = await startTestApi(env)
  sibling = await startTestApi({ ...env, databaseUrl: api.databaseUrl })
  tenant = await api.makeTenant()
})
beforeEach(() => clearOf('day'))
after(async () => {
  await sibling.close()
  await api.close()
})

interface Place {
  id: string
  token: string
}

async function makeCollection(): Promise<Place> {
  const { data } = (await send(api, 'POST', '/collections', { key: tenant.publishableKey, body: {} })).body
  return { id: data.id, token: data.admin_token }
}

interface From {
  address?: string
  key?: string
  at?: { baseUrl: string }
}

/** Each call comes from a new address, unless it names one. */
let calls = 0
const newAddress = () => `198.51.${(++calls >> 8) & 255}.${calls & 255}`

const post = (place: Place, path: string, body: object, { address = newAddress(), key, at = api }: From = {}) =>
  sendUntilServed(at, 'POST', `/collections/${place.id}/${path}`, {
    key: key ?? tenant.publishableKey,
    collectionToken: place.token,
    idempotencyKey: randomUUID(),
    headers: { 'x-forwarded-for': address },
    body,
  })
const paint = (place: Place, from?: From) => post(place, 'paint', { prompt: 'a lamp' }, from)
const announce = (place: Place, bytes: number, from?: From) =>
  post(place, 'artifacts/upload', { kind: 'image', mime: 'image/png', bytes }, from)

const many = (count: number, one: (i: number) => Promise<Got>) => Promise.all(Array.from({ length: count }, (_, i) => one(i)))
const both = (i: number) => (i % 2 === 0 ? api : sibling)

function assertRefused(answers: Got[], status: number, code: string, message: RegExp): void {
  for (const { status: got, body, headers } of answers) {
    assert.deepEqual([got, body.error.code], [status, code], body.error.message)
    assert.match(body.error.message, message)
    const seconds = Number(headers.get('retry-after'))
    assert.ok(seconds > 0 && seconds <= 86_400, 'until midnight UTC')
  }
}

/** The accepted answers, after checking their number. */
function split(answers: Got[], taken: number): Got[] {
  const refused = answers.filter(({ status }) => status >= 400)
  assert.equal(answers.length - refused.length, taken, answers.map(({ status }) => status).join(' '))
  return refused
}

describe('a publishable key cannot use up its tenant’s monthly allowance', () => {
  test('of 50 concurrent paints from one address, over two processes, 5 are accepted; the others get the time to wait', async () => {
    const address = newAddress()
    const places = await Promise.all(Array.from({ length: 10 }, makeCollection))
    const answers = await many(50, (i) => paint(places[i % 10]!, { address, at: both(i) }))
    assertRefused(split(answers, 5), 429, 'rate_limited', /this address may paint 5 times a day/)
  })

  test('an IPv6 /64 counts as one address, and the next /64 as another', async () => {
    const place = await makeCollection()
    const own = await many(8, (i) => paint(place, { address: `2001:db8:1:2:${i}::1` }))
    assertRefused(split(own, 5), 429, 'rate_limited', /this address/)
    assert.equal((await paint(place, { address: '2001:db8:1:3::1' })).status, 202)
  })

  test('of 50 concurrent paints into one collection from 50 addresses, 8 are accepted', async () => {
    const place = await makeCollection()
    assertRefused(
      split(await many(50, (i) => paint(place, { at: both(i) })), 8),
      429,
      'rate_limited',
      /this collection may paint 8 times a day/,
    )
  })

  test('all publishable keys together may use a tenth of the monthly allowance a day; a refused paint counts nowhere', async () => {
    tenant = await api.makeTenant()
    const places = await Promise.all(Array.from({ length: 10 }, makeCollection))
    const answers = await many(50, (i) => paint(places[i % 10]!, { at: both(i) }))
    assertRefused(split(answers, 20), 429, 'rate_limited', /all publishable keys together may paint 20 times a day/)
    const { rows } = await api.ctx.db.pool.query('select used from paint_allowances where tenant_id = $1', [tenant.id])
    assert.deepEqual(rows, [{ used: 20 }])
    const [counted] = await countsOf('paints_per_address')
    assert.equal(counted!.sum, 20)
    const server = await paint(places[0]!, { key: tenant.secretKey })
    assert.equal(server.status, 202, 'the secret key has the whole allowance')
  })

  test('a replay does not count', async () => {
    tenant = await api.makeTenant()
    const place = await makeCollection()
    const options = { key: tenant.publishableKey, collectionToken: place.token, idempotencyKey: randomUUID() }
    const again = () => sendUntilServed(api, 'POST', `/collections/${place.id}/paint`, { ...options, body: { prompt: 'a lamp' } })
    for (const answer of await many(10, again)) assert.equal(answer.status, 202)
    assert.equal((await countsOf('paints_per_day'))[0]!.sum, 1)
  })
})

describe('uploads', () => {
  test('of 50 concurrent uploads of 100 bytes from one address, 10 are accepted; the secret key has no such limit', async () => {
    tenant = await api.makeTenant()
    const place = await makeCollection()
    const address = newAddress()
    const answers = await many(50, (i) => announce(place, 100, { address, at: both(i) }))
    assertRefused(split(answers, 10), 413, 'quota_exceeded', /an address may upload at most 1000 bytes a day/)
    assert.equal((await announce(place, 100, { address, key: tenant.secretKey })).status, 201)
    assert.equal((await announce(place, 1_001)).body.error.code, 'quota_exceeded', 'the first one too')
  })
})

const countsOf = async (meter: string) =>
  (
    await api.ctx.db.pool.query<{ sum: number }>('select sum(used)::int from daily_counts where tenant_id = $1 and meter = $2', [
      tenant.id,
      meter,
    ])
  ).rows

describe('the stored address', () => {
  test('is a hash that needs the master key, differs by tenant and day, and is deleted when the day is over', async () => {
    const address = '203.0.113.7'
    const subjects: string[] = []
    for (let i = 0; i < 2; i++) {
      tenant = await api.makeTenant()
      const place = await makeCollection()
      assert.equal((await paint(place, { address })).status, 202)
      const { rows } = await api.ctx.db.pool.query<{ subject: string }>(
        `select subject from daily_counts where tenant_id = $1 and meter = 'paints_per_address'`,
        [tenant.id],
      )
      subjects.push(...rows.map(({ subject }) => subject))
    }
    assert.equal(new Set(subjects).size, 2)
    const { rows } = await api.ctx.db.pool.query<{ text: string }>('select c::text as text from daily_counts c')
    const dump = rows.map(({ text }) => text).join('\n')
    const day = new Date().toISOString().slice(0, 10)
    for (const guess of [address, `${tenant.id}${address}`, `${day}${address}`, `${tenant.id}${day}${address}`]) {
      const digest = createHash('sha256').update(guess).digest()
      for (const form of [guess, digest.toString('hex'), digest.toString('base64url'), digest.toString('base64')])
        assert.ok(!dump.includes(form), form)
    }

    await deletePastCounts(api.ctx, 1_000)
    await api.ctx.db.pool.query('update daily_counts set day = day - 1 where tenant_id = $1', [tenant.id])
    const { rows: left } = await api.ctx.db.pool.query<{ count: number }>('select count(*)::int from daily_counts')
    const gone = await deletePastCounts(api.ctx, 1_000)
    assert.equal(gone, 3)
    const { rows: now } = await api.ctx.db.pool.query<{ count: number }>('select count(*)::int from daily_counts')
    assert.equal(now[0]!.count, left[0]!.count - gone, 'those of today stay')
  })
})

describe('limits that an operator sets for one tenant', () => {
  const ask = (method: string, body?: object, id = tenant.id) =>
    send(api, method, `/tenants/${id}/limits`, { headers: { 'x-admin-token': api.adminToken }, ...(body ? { body } : {}) })

  test('hold from the next request on, for that tenant alone, until they are replaced', async () => {
    tenant = await api.makeTenant()
    const place = await makeCollection()
    const set = await ask('PUT', { paints_per_collection: 1, paints_per_address: 0 })
    assert.equal(set.status, 200, set.text)
    assert.deepEqual(set.body.data.overrides, { paints_per_collection: 1, paints_per_address: 0 })
    assert.deepEqual([set.body.data.limits.paints_per_day, set.body.data.stored_bytes_used], [20, 0])
    assertRefused([await paint(place)], 429, 'rate_limited', /this address may paint 0 times/)
    assert.equal((await ask('PUT', { paints_per_collection: 1 })).status, 200)
    assert.equal((await paint(place)).status, 202)
    assertRefused([await paint(place)], 429, 'rate_limited', /this collection may paint 1 times/)
    const other = await api.makeTenant()
    assert.deepEqual((await ask('GET', undefined, other.id)).body.data.overrides, {})
    const reset = await ask('PUT', {})
    assert.deepEqual(reset.body.data, (await ask('GET')).body.data)
    assert.equal(reset.body.data.limits.paints_per_collection, 8)
    assert.equal((await paint(place)).status, 202)
  })

  test('an unknown tenant is 404, and an invalid limit is 400', async () => {
    const unknown = 'ten_4fRzK0vXcB1mQwErTy7uPa'
    for (const method of ['GET', 'PUT']) {
      assert.equal((await ask(method, method === 'PUT' ? {} : undefined, unknown)).body.error.code, 'not_found')
    }
    for (const body of [{ paints_per_day: -1 }, { paints_per_day: 1.5 }, { paints_per_day: null }, { paints: 1 }]) {
      assert.equal((await ask('PUT', body)).body.error.code, 'invalid_request', JSON.stringify(body))
    }
  })
})
