import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { askGood, call, makeTenant } from '../support/call-api.ts'
import { mapConcurrently } from '../support/map-concurrently.ts'
import { countOf, openSlowReaders, type SlowReaders } from '../support/slow-readers.ts'
import { address, startSlowWorld, type SlowWorld } from '../support/slow-world.ts'

// tests/long/slow-readers.test.ts tests how 500 readers are bounded and disconnected.

const readers = 40
const limitMiB = 256
const onLinux = { skip: process.platform !== 'linux' && 'memory is read from /proc', timeout: 60_000 }

let world: SlowWorld
before(async () => {
  world = await startSlowWorld()
})
after(() => world.end())

const addresses = Array.from({ length: readers }, (_, n) => address(n))

/** The whole answer of `sealed`, checked. */
async function readSealed(url: string): Promise<void> {
  const res = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ op: 'sealed', room: world.room }),
  })
  assert.equal(res.status, 200)
  const answer = (await res.json()) as { alg: string; bytes: number; sha256: string; recipients: string[]; sealed: string }
  assert.deepEqual(Object.keys(answer).sort(), ['alg', 'bytes', 'recipients', 'sealed', 'sha256'])
  assert.equal(answer.bytes, Buffer.byteLength(answer.sealed))
  assert.equal(answer.sha256, createHash('sha256').update(answer.sealed).digest('hex'))
  assert.equal(answer.sealed.split('\n').length, 1_100)
  assert.deepEqual(answer.recipients, ['room'])
}

test(
  `${readers} readers of a room of 64 MiB who do not read cost little memory, and others read it whole meanwhile`,
  onLinux,
  async (t) => {
    const { spacesOrigin, origin } = world.atrium
    const { apiMiB, spaceMiB } = await world.growth(async () => {
      for (const [at, path] of [
        [spacesOrigin, '/space'],
        [origin, '/v1/space'],
      ] as const) {
        const slow = await openSlowReaders(
          at,
          addresses.map((from) => world.sealedRequest(path, from)),
        )
        assert.equal(countOf(slow.statuses(), 200), readers)
        await readSealed(at + path)
        slow.close()
      }
    })
    t.diagnostic(`the API grew by ${apiMiB} MiB, the Space service by ${spaceMiB} MiB`)
    assert.ok(apiMiB < limitMiB && spaceMiB < limitMiB, `API ${apiMiB} MiB, Space ${spaceMiB} MiB`)
  },
)

test(
  'one address has at most eight whole rooms on their way, and the next one when one of them is through',
  onLinux,
  async () => {
    const { spacesOrigin } = world.atrium
    const from = '192.0.2.1'
    const request = world.sealedRequest('/space', from)
    const slow = await openSlowReaders(
      spacesOrigin,
      Array.from({ length: 20 }, () => request),
    )
    assert.deepEqual([countOf(slow.statuses(), 200), countOf(slow.statuses(), 503)], [8, 12])
    const res = await fetch(`${spacesOrigin}/space`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
      body: JSON.stringify({ op: 'sealed', room: world.room }),
    })
    assert.deepEqual([res.status, await res.json()], [503, { error: 'unavailable', reason: 'too many large answers at once' }])
    assert.ok(Number(res.headers.get('retry-after')) > 0)
    slow.close()
    for (;;) {
      const [again] = (await openSlowReaders(spacesOrigin, [request])).statuses()
      if (again === 200) break
    }
  },
)

test('an address that does not read large pages of a room keeps none from another address', onLinux, async () => {
  const { spacesOrigin } = world.atrium
  const poll = (from: string) => world.pollRequest('/space', from)
  const statusOf = async (from: string) => {
    const reader = await openSlowReaders(spacesOrigin, [poll(from)])
    reader.close()
    return reader.statuses()[0]
  }
  const all: SlowReaders[] = []
  while ((await statusOf('192.0.2.2')) === 200) {
    assert.ok(all.length < readers, 'nothing is refused')
    // Several requests on each connection, because the kernel buffers the first answers.
    all.push(await openSlowReaders(spacesOrigin, [poll('192.0.2.2').repeat(5)]))
  }
  assert.equal(await statusOf('192.0.2.3'), 200)
  for (const slow of all) slow.close()
})

test(
  'readers of large pages who do not read: beyond what memory is set apart, others are told to come again, and small answers come',
  onLinux,
  async (t) => {
    const { origin } = world.atrium
    const { apiMiB } = await world.growth(async () => {
      const all: SlowReaders[] = []
      let refused = await world.listItems(200)
      while (refused.status === 200) {
        assert.ok(all.length < readers, 'nothing is refused')
        // Two requests on each connection, because the kernel buffers most of the first answer.
        all.push(await openSlowReaders(origin, [world.itemsRequest().repeat(2)]))
        refused = await world.listItems(200)
      }
      assert.deepEqual([refused.status, refused.code], [503, 'unavailable'])
      assert.ok(Number(refused.headers['retry-after']) > 0)
      assert.equal(refused.headers['cache-control'], 'no-store')
      assert.equal((await fetch(`${origin}/healthz`)).status, 200)
      for (const slow of all) slow.close()
    })
    t.diagnostic(`the API grew by ${apiMiB} MiB`)
    assert.ok(apiMiB < limitMiB, `${apiMiB} MiB`)
  },
)

test('large answers of two tenants, which are not read, keep neither small nor large ones from a third', onLinux, async () => {
  const { origin } = world.atrium
  const { publishable, secret } = world.tenant
  const makeMany = (key: string, bytes: number) =>
    mapConcurrently(Array.from({ length: 200 }), 8, () =>
      askGood(origin, 'POST /v1/collections', { key, body: { metadata: { note: 'x'.repeat(bytes) } } }),
    )
  const [other, large, ally] = await Promise.all([makeTenant(origin), makeTenant(origin), makeTenant(origin)])
  await Promise.all([makeMany(publishable, 15_000), makeMany(large.publishable, 15_500), makeMany(ally.publishable, 15_000)])
  const list = (key: string) => call(origin, 'GET /v1/collections?limit=200', { key })
  const all: SlowReaders[] = []
  // The second tenant takes what the first one leaves.
  const hoard = async (key: string) => {
    const request = `GET /v1/collections?limit=200 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`
    while ((await list(key)).status === 200) {
      assert.ok(all.length < readers, 'nothing is refused')
      // As above, two on each connection.
      all.push(await openSlowReaders(origin, [request.repeat(2)]))
    }
  }
  try {
    await hoard(secret)
    await hoard(ally.secret)
    const { status, text } = await list(other.secret)
    assert.deepEqual([status, text], [200, '{"data":[],"meta":{}}'])
    assert.equal((await list(large.secret)).status, 200)
    // The tenant itself can still read another list.
    assert.equal((await call(origin, 'GET /v1/tenant/requests?limit=1', { key: secret })).status, 200)
  } finally {
    for (const slow of all) slow.close()
  }
})

test('a page of large items ends early, and its cursor continues without a gap', onLinux, async () => {
  const ids: string[] = []
  let pages = 0
  for (let cursor: string | undefined = ''; cursor !== undefined; pages++) {
    const { status, text } = await world.listItems(200, cursor)
    assert.equal(status, 200)
    assert.ok(text.length < 5 * 1024 * 1024, `${text.length} bytes`)
    const { data, meta } = JSON.parse(text) as { data: { items: { id: string }[] }; meta: { next_cursor?: string } }
    ids.push(...data.items.map(({ id }) => id))
    cursor = meta.next_cursor
  }
  assert.deepEqual([ids.length, new Set(ids).size], [200, 200])
  assert.ok(pages > 2)
})
