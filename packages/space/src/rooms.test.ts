import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDevice } from '@atrium/identity/testing/provider'
import { checkChain } from '@atrium/sealing/node-lines'
import { deriveRoomKey } from '@atrium/sealing/room-key'
import { generalDecrypt } from 'jose'
import { startLoopClock } from '../../server/testing/busy-machine.ts'
import { untilServed } from '../../server/testing/http.ts'
import { startTestSpace, type TestSpace } from './testing/test-space.ts'

let space: TestSpace
before(async () => {
  space = await startTestSpace()
})
after(() => space.close())

const fresh = () => ({ room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') })
const say = (secret: object, text: string, more: object = {}) => space.call('turn', { ...secret, message: { text, ...more } })
const read = (secret: object, more: object = {}) => space.call('poll', { ...secret, ...more })
const texts = (body: any) => body.entries.map((entry: any) => entry.message.text)

test('a turn makes an open room, and whoever has the key reads it', async () => {
  const secret = fresh()
  const first = await say(secret, 'The lamps are lit.')
  assert.equal(first.status, 200)
  assert.deepEqual(Object.keys(first.body), ['ok', 'seq', 'id', 'at', 'etag', 'count'])
  assert.deepEqual([first.body.seq, first.body.count], [1, 2])
  await say(secret, 'Grüße 🌍', { reply_to: first.body.id })
  const { body, headers } = await read(secret)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.deepEqual(texts(body), ['The lamps are lit.', 'Grüße 🌍'])
  assert.deepEqual(body.entries[1].message.reply_to, first.body.id)
  assert.deepEqual(body.entries[0].author, { kind: 'anonymous' })
  assert.deepEqual([body.count, body.policy], [3, 'open'])
})

test('a poll from where the last one ended brings what is new and nothing else', async () => {
  const secret = fresh()
  await say(secret, 'one')
  const before = (await read(secret)).body
  const nothing = (await read(secret, { sinceEtag: before.etag, sinceCount: before.count })).body
  assert.deepEqual([nothing.entries, nothing.etag, nothing.count], [[], before.etag, before.count])
  await say(secret, 'two')
  const after = (await read(secret, { sinceEtag: before.etag, sinceCount: before.count })).body
  assert.deepEqual(texts(after), ['two'])
})

test('pages follow one another without gap or repeat', async () => {
  const secret = fresh()
  for (let i = 0; i < 11; i++) await say(secret, String(i))
  const seen: string[] = []
  let since = { sinceEtag: '', sinceCount: 0 }
  for (;;) {
    const { body } = await read(secret, { ...since, limit: 4 })
    if (body.entries.length === 0) break
    seen.push(...texts(body))
    since = { sinceEtag: body.etag, sinceCount: body.count }
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 11 }, (_, i) => String(i)),
  )
})

test('a caller whose history is another gets everything from the beginning', async () => {
  const secret = fresh()
  for (const text of ['a', 'b', 'c']) await say(secret, text)
  const { body } = await read(secret, { sinceEtag: 'x'.repeat(43), sinceCount: 3 })
  assert.deepEqual(texts(body), ['a', 'b', 'c'])
})

test('the wrong key gets nothing, not even how many lines there are', async () => {
  const secret = fresh()
  await say(secret, 'hidden')
  const wrong = { room: secret.room, mk: randomBytes(32).toString('base64url') }
  for (const answer of [await read(wrong), await say(wrong, 'mine')]) {
    assert.deepEqual([answer.status, answer.body], [403, { error: 'not_authorized', reason: 'bad_room_key' }])
  }
  assert.equal((await read(secret)).body.count, 2)
})

test('an unknown room is 404, an unknown op and bad fields are 400 that never quote the key', async () => {
  const secret = fresh()
  const unknown = await read(secret)
  assert.deepEqual([unknown.status, unknown.body], [404, { error: 'not_found', reason: 'room' }])
  const bad = [
    await space.call('dance'),
    await space.call('poll', { ...secret, room: 'no spaces' }),
    await space.call('poll', { room: secret.room, mk: 'short' }),
    await space.call('poll', { ...secret, sinceCount: -1 }),
    await space.call('poll', { ...secret, limit: 501 }),
    await space.call('poll', { ...secret, waitMs: 25_001 }),
    await space.call('turn', { ...secret, message: { text: '' } }),
    await space.call('turn', { ...secret, message: 'plain' }),
    await space.call('turn', { ...secret, message: { text: 'x' }, extra: secret.mk }),
  ]
  for (const { status, body } of bad) {
    assert.deepEqual([status, body.error], [400, 'invalid_request'], JSON.stringify(body))
    assert.equal(JSON.stringify(body).includes(secret.mk), false)
  }
})

test('an open room needs no identity: a credential of null or an empty text is none', async () => {
  const secret = fresh()
  for (const none of [{ idToken: null }, { idToken: '' }, { spk: null }, { spk: '' }, { idToken: null, spk: null }]) {
    const said = await space.call('turn', { ...secret, ...none, message: { text: 'here' } })
    const read = await space.call('poll', { ...secret, ...none })
    assert.deepEqual([said.status, read.status], [200, 200], JSON.stringify([none, said.body, read.body]))
    assert.deepEqual(read.body.entries.at(-1).author, { kind: 'anonymous' })
  }
})

test('a message of 16 KiB passes, one byte more is invalid in each script', async () => {
  const secret = fresh()
  assert.equal((await say(secret, 'é'.repeat(8_192))).status, 200)
  for (const text of ['x'.repeat(16_385), `é${'x'.repeat(16_383)}`, 'д'.repeat(8_193)]) {
    const { status, body } = await say(secret, text)
    assert.deepEqual([status, body.error], [400, 'invalid_request'])
    assert.match(body.reason, /^\/message\/text must not have more than 16384 /)
  }
  assert.equal((await read(secret)).body.count, 2)
})

test('a repeat of a client_id is stored once and answered alike, also when fifty come at once', async () => {
  const secret = fresh()
  const answers = await Promise.all(Array.from({ length: 50 }, () => say(secret, 'once', { client_id: 'c1' })))
  assert.equal(new Set(answers.map(({ body }) => `${body.seq} ${body.id} ${body.at}`)).size, 1)
  await say(secret, 'once more', { client_id: 'c2' })
  assert.equal((await say(secret, 'once', { client_id: 'c1' })).body.id, answers[0]!.body.id)
  assert.deepEqual(texts((await read(secret)).body), ['once', 'once more'])
})

test('200 writers in one room: every accepted turn once, the chain unbroken', async () => {
  const secret = fresh()
  const second = await startTestSpace({}, space.databaseUrl)
  try {
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const at = i % 2 === 0 ? space : second
        const out = []
        for (let k = 0; k < 5; k++) {
          const message = { text: `${i}.${k}`, client_id: `${i}.${k}` }
          out.push(await untilServed(() => at.call('turn', { ...secret, message })))
        }
        return out
      }),
    )
    const accepted = answers.flat()
    assert.deepEqual(new Set(accepted.map(({ status }) => status)), new Set([200]))
    assert.equal(new Set(accepted.map(({ body }) => body.seq)).size, 1_000)
    const { rows } = await space.db.query('select line from room_lines where room = $1 order by seq', [secret.room])
    const head = (await space.db.query('select etag, count from rooms where room = $1', [secret.room])).rows[0]
    const lines = rows.map((row) => row.line)
    assert.deepEqual([lines.length, head.count], [1_001, 1_001])
    assert.equal(checkChain(lines, { fromSeq: 0, etag: head.etag }), undefined)
  } finally {
    await second.close()
  }
})

test('a held poll ends with the news and not with its time, also when another process wrote it', async () => {
  const secret = fresh()
  await say(secret, 'first')
  const second = await startTestSpace({}, space.databaseUrl)
  try {
    const { etag, count } = (await read(secret)).body
    const held = read(secret, { sinceEtag: etag, sinceCount: count, waitMs: 20_000 })
    await space.untilHeld(1)
    const saidAt = Date.now()
    await second.call('turn', { ...secret, message: { text: 'news' } })
    assert.deepEqual(texts((await held).body), ['news'])
    assert.ok(Date.now() - saidAt < 10_000)
  } finally {
    await second.close()
  }
})

test('a held poll without news ends at its time with nothing', async () => {
  const secret = fresh()
  await say(secret, 'first')
  const { etag, count } = (await read(secret)).body
  const startedAt = Date.now()
  const { body } = await read(secret, { sinceEtag: etag, sinceCount: count, waitMs: 300 })
  assert.deepEqual(body.entries, [])
  assert.ok(Date.now() - startedAt >= 295)
})

test('a poll of a room that is not there is answered at once, whatever it asks for', async () => {
  const startedAt = Date.now()
  for (const since of [{}, { sinceEtag: '', sinceCount: 0 }, { sinceCount: 3 }, { sinceEtag: 'x'.repeat(43), sinceCount: 3 }]) {
    const { status, body } = await read(fresh(), { ...since, waitMs: 20_000 })
    assert.deepEqual([status, body], [404, { error: 'not_found', reason: 'room' }])
  }
  assert.ok(Date.now() - startedAt < 10_000)
})

test('a hundred held polls hold no database connection, and of one address no more are held: the next is answered at once', async () => {
  const secret = fresh()
  await say(secret, 'first')
  const { etag, count } = (await read(secret)).body
  const since = { sinceEtag: etag, sinceCount: count, waitMs: 20_000 }
  const polls = Array.from({ length: 100 }, () => read(secret, since))
  await space.untilHeld(100)
  const startedAt = Date.now()
  const tooMany = await read(secret, since)
  assert.deepEqual([tooMany.status, tooMany.body], [200, { etag, count, entries: [], policy: 'open' }])
  assert.ok(Date.now() - startedAt < 10_000)
  const other = space.call('poll', { ...secret, ...since }, '192.0.2.1')
  await space.untilHeld(101)
  const busy = async () => {
    const { rows } = await space.db.query(
      `select count(*)::int as busy from pg_stat_activity where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`,
    )
    return rows[0].busy as number
  }
  // What was just read for the polls may still end.
  for (const deadline = Date.now() + 10_000; (await busy()) > 0; await delay(20)) assert.ok(Date.now() < deadline)
  await say(secret, 'go')
  for (const { status, body } of await Promise.all([...polls, other])) assert.deepEqual([status, texts(body)], [200, ['go']])
})

test('200 addresses that hold all they can leave room for the next one', async () => {
  const secrets = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const secret = fresh()
      return { secret, count: (await say(secret, 'x')).body.count as number }
    }),
  )
  const stop = new AbortController()
  const from = (n: number) => `198.51.${100 + Math.floor(n / 250)}.${n % 250}`
  const held: Promise<unknown>[] = []
  for (let address = 0; address < 200; address++) {
    const { secret, count } = secrets[address % secrets.length]!
    for (let n = 0; n < 4; n++) {
      const fields = { ...secret, sinceCount: count, waitMs: 25_000 }
      held.push(space.call('poll', fields, from(address), stop.signal).catch(() => undefined))
    }
  }
  await space.untilHeld(800)
  const { secret, count } = secrets[0]!
  const next = space.call('poll', { ...secret, sinceCount: count, waitMs: 25_000 }, '203.0.113.9')
  await space.untilHeld(801)
  await say(secret, 'news')
  assert.deepEqual(texts((await next).body), ['news'])
  stop.abort()
  await Promise.all(held)
})

test('a client_id is shown to its author alone: to whoever presents the key that it was written with', async () => {
  const secret = fresh()
  const [ada, eve] = await Promise.all([createTestDevice(), createTestDevice()])
  await space.call('turn', { ...secret, spk: ada.spk, message: { text: 'one', client_id: 'secret-1' } })
  await say(secret, 'two', { client_id: 'secret-2' })
  const idsFor = async (more: object) =>
    (await read(secret, more)).body.entries.map(({ message }: any) => message.client_id ?? null)
  assert.deepEqual(await idsFor({ spk: ada.spk }), ['secret-1', null])
  assert.deepEqual(await idsFor({ spk: eve.spk }), [null, null])
  assert.deepEqual(await idsFor({}), [null, null])
})

test(
  'a page ends before an answer gets too large, and the pages still follow one another without gap',
  { timeout: 60_000 },
  async () => {
    const secret = fresh()
    await say(secret, 'first')
    // Each a line of 130 KB: control characters take six bytes in JSON.
    const wide = '\u0001'.repeat(16_000)
    for (let i = 0; i < 40; i++) assert.equal((await say(secret, wide)).status, 200)
    const seqs: number[] = []
    let since = { sinceEtag: '', sinceCount: 0 }
    let pages = 0
    for (; ; pages++) {
      const { body } = await read(secret, since)
      if (body.entries.length === 0) break
      assert.ok(JSON.stringify(body).length < 2.5 * 1024 * 1024)
      seqs.push(...body.entries.map(({ seq }: any) => seq))
      since = { sinceEtag: body.etag, sinceCount: body.count }
    }
    assert.ok(pages > 1)
    assert.deepEqual(
      seqs,
      Array.from({ length: 41 }, (_, i) => i + 1),
    )
  },
)

test('a service that stops answers the polls it holds', async (t) => {
  const stopping = await startTestSpace({}, space.databaseUrl)
  const secret = fresh()
  await say(secret, 'first')
  const { etag, count } = (await read(secret)).body
  const ofRoom = stopping.call('poll', { ...secret, sinceEtag: etag, sinceCount: count, waitMs: 20_000 })
  await stopping.untilHeld(1)
  const now = startLoopClock(t)
  const [room] = await Promise.all([ofRoom, stopping.close()])
  assert.ok(now() < 4_000, 'connections are not waited for after their last answer')
  assert.deepEqual(room.body.entries, [])
})

test('sealed gives the stored bytes to whoever asks, and any JOSE library opens them with the derived key', async () => {
  const secret = fresh()
  await say(secret, 'canary in the mine')
  const { body } = await space.call('sealed', { room: secret.room })
  assert.equal(body.alg, 'A256GCM')
  assert.deepEqual(body.recipients, ['room'])
  assert.equal(body.bytes, Buffer.byteLength(body.sealed))
  assert.equal(body.sha256, createHash('sha256').update(body.sealed).digest('hex'))
  assert.equal(body.sealed.includes('canary'), false)
  const lines = body.sealed.split('\n')
  const key = deriveRoomKey(secret)
  const records = await Promise.all(
    lines.map(async (line: string) =>
      JSON.parse(new TextDecoder().decode((await generalDecrypt(JSON.parse(line), key)).plaintext)),
    ),
  )
  assert.deepEqual(
    records.map((record) => record.t),
    ['policy', 'turn'],
  )
  assert.equal(records[1].message.text, 'canary in the mine')
  assert.equal((await space.call('sealed', { room: 'nowhere' })).status, 404)
})

test('create makes a room once; a title comes back with a poll', async () => {
  const secret = fresh()
  const made = await space.call('create', { ...secret, policy: 'open', title: 'Lantern night' })
  assert.deepEqual([made.status, made.body.ok, made.body.count], [200, true, 1])
  const again = await space.call('create', { ...secret, policy: 'open' })
  assert.deepEqual([again.status, again.body], [409, { error: 'room_exists', reason: 'room' }])
  assert.deepEqual([(await read(secret)).body.title, (await read(secret)).body.entries], ['Lantern night', []])
})

test('without an identity provider rooms with a list cannot be made, and the answer says so', async () => {
  const { status, body } = await space.call('create', { ...fresh(), policy: 'email', allow: ['ada@example.com'] })
  assert.deepEqual([status, body.error], [400, 'invalid_request'])
  assert.match(body.reason, /identity provider/)
})

test('a flipped byte anywhere in the stored lines is a plain 500, and nothing is shown as genuine', async () => {
  const secret = fresh()
  for (const text of ['one', 'two', 'three']) await say(secret, text)
  const { rows } = await space.db.query('select seq, line from room_lines where room = $1 order by seq', [secret.room])
  for (const { seq, line } of rows) {
    for (let i = 0; i < line.length; i += 1 + Math.floor(line.length / 40)) {
      const flipped = line.slice(0, i) + String.fromCharCode(line.charCodeAt(i) ^ 1) + line.slice(i + 1)
      await space.db.query('update room_lines set line = $3 where room = $1 and seq = $2', [secret.room, seq, flipped])
      const { status, body } = await read(secret)
      assert.deepEqual(
        [status, body],
        [500, { error: 'internal_error', reason: 'damaged' }],
        `line ${seq} byte ${i}: ${JSON.stringify(body)}`,
      )
    }
    await space.db.query('update room_lines set line = $3 where room = $1 and seq = $2', [secret.room, seq, line])
  }
  assert.equal((await read(secret)).status, 200)
  assert.ok(space.logged.some((line) => line.includes(`room ${secret.room} is damaged at line`)))
})

test('nothing of key or message reaches a table or the log', async () => {
  const secret = fresh()
  await say(secret, 'canary-message-text', { client_id: 'canary-client' })
  await space.call('turn', { ...secret, mk: `${secret.mk}x`, message: { text: 'canary-message-text' } })
  const rows = (await space.db.query('select room_lines::text as row from room_lines union all select rooms::text from rooms'))
    .rows
  const everything = [...rows.map(({ row }) => row), ...space.logged].join('\n')
  for (const canary of ['canary-message-text', 'canary-client', secret.mk]) {
    for (const form of [canary, Buffer.from(canary).toString('hex'), Buffer.from(canary).toString('base64url').slice(0, -2)]) {
      assert.equal(everything.includes(form), false, form)
    }
  }
})

function post(headers: OutgoingHttpHeaders): ClientRequest {
  const req = request(`${space.origin}/space`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } })
  return req.on('error', () => undefined)
}

test('a body over 256 KiB is 413, announced or not, and the rest of it is not read', async () => {
  for (const headers of [{ 'content-length': 300_000 }, {}]) {
    const req = post(headers)
    const answered = once(req, 'response') as Promise<[IncomingMessage]>
    req.write(Buffer.alloc(299_999, ' '))
    const [res] = await answered
    assert.deepEqual([res.statusCode, res.headers.connection], [413, 'close'])
    assert.deepEqual(await json(res), { error: 'payload_too_large', reason: 'a body goes up to 256 KiB' })
    req.destroy()
  }
})

test('a body that its caller cuts off is no fault of the service', async () => {
  const refused = () => {
    const families = space.collect() as { name: string; values: { labels: { outcome: string }; value: number }[] }[]
    const { values } = families.find(({ name }) => name === 'atrium_space_requests_total')!
    return ['invalid_request', 'unavailable'].map((asked) => values.find(({ labels }) => labels.outcome === asked)?.value ?? 0)
  }
  const [invalid = 0, unavailable] = refused()
  const req = post({ 'content-length': 2 })
  req.write('{')
  // When another call is answered, the service waits for the rest of this one.
  await read(fresh())
  req.destroy()
  for (const deadline = Date.now() + 10_000; refused()[0] === invalid && Date.now() < deadline;) await delay(5)
  assert.deepEqual(refused(), [invalid + 1, unavailable])
})
