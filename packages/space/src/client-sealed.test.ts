import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { untilServed } from '../../server/testing/http.ts'
import { audience, type Forged, newDedupe, SealingClient } from './testing/sealing-client.ts'
import { startTestSpace, type TestSpace } from './testing/test-space.ts'

let space: TestSpace
before(async () => {
  space = await startTestSpace({ ATRIUM_SPACES_URL: audience })
})
after(() => space.close())

async function made(): Promise<SealingClient> {
  const client = new SealingClient(space)
  const { status, body } = await client.make()
  assert.deepEqual([status, Object.keys(body), body.ok, body.count], [200, ['ok', 'etag', 'count'], true, 1])
  return client
}

test('two readers open what two writers append, in one order, with any JOSE library', async () => {
  const client = await made()
  const first = await client.append('The lamps are lit.')
  assert.deepEqual([first.status, Object.keys(first.body)], [200, ['ok', 'seq', 'etag', 'count']])
  assert.deepEqual([first.body.seq, first.body.count], [1, 2])
  await client.append('Grüße 🌍')
  const [one, other] = await Promise.all([client.read(), client.read({ sinceEtag: '', sinceCount: 0 })])
  assert.deepEqual(one.body, other.body)
  assert.deepEqual([Object.keys(one.body), one.body.count], [['etag', 'count', 'lines'], 3])
  assert.equal(one.headers.get('cache-control'), 'no-store')
  assert.deepEqual(await client.texts(one), ['policy', 'The lamps are lit.', 'Grüße 🌍'])
  const later = await client.read({ sinceEtag: first.body.etag, sinceCount: 2 })
  assert.deepEqual(later.body.lines, one.body.lines.slice(2))
  const another = await client.read({ sinceEtag: 'x'.repeat(43), sinceCount: 2, limit: 1 })
  assert.deepEqual([another.body.lines, another.body.count], [one.body.lines.slice(0, 1), 1])
})

test('a held read returns with an append, and without one at its end', async () => {
  const client = await made()
  const { etag, count } = (await client.read()).body
  const none = await client.read({ sinceEtag: etag, sinceCount: count, waitMs: 50 })
  assert.deepEqual(none.body, { etag, count, lines: [] })
  const held = client.read({ sinceEtag: etag, sinceCount: count, waitMs: 20_000 })
  await space.untilHeld(1)
  await client.append('news')
  const { body } = await held
  assert.deepEqual([body.count, await client.open(body.lines[0])], [2, 'news'])
})

test('a repeat is stored once and answered alike, also when fifty come at once', async () => {
  const client = await made()
  const dedupe = newDedupe()
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.append('once', { dedupe })))
  for (const { status, body } of [...answers, await client.append('once', { dedupe })])
    assert.deepEqual([status, body.ok, body.seq], [200, true, 1])
  assert.deepEqual(await client.texts(await client.read()), ['policy', 'once'])
  assert.equal((await client.call('append', { line: await client.seal('x') })).status, 400, 'a dedupe value is required')
})

test('a signature that is not by the access key over this request is refused, and nothing is stored', async () => {
  const client = await made()
  const { privateKey: key } = generateKeyPairSync('ed25519')
  const forgeries: Record<string, Forged> = {
    'another key': { key },
    'another room': { room: 'another' },
    'another op': { op: 'read' },
    'another service': { audience: 'https://other.example' },
    'another method': { claims: { htm: 'GET' } },
    'another content': { after: { line: await client.seal('swapped') } },
    'another dedupe value': { after: { dedupe: newDedupe() } },
    'no hash': { claims: { sha256: undefined } },
    'another type': { header: { typ: 'JWT' } },
    'no algorithm': { header: { alg: 'none' } },
    'an extension': { header: { crit: ['b64'], b64: false } },
    'no JWS': { after: { signature: 'x' } },
  }
  for (const [name, forged] of Object.entries(forgeries)) {
    const { status, body } = await client.append('forged', forged)
    assert.deepEqual([status, body], [403, { error: 'not_authorized', reason: 'bad_room_key' }], name)
  }
  assert.equal((await client.read({}, { key })).body.reason, 'bad_room_key')
  assert.equal((await client.read({}, { after: { limit: 1 } })).body.reason, 'bad_room_key')
  const stranger = new SealingClient(space)
  assert.equal((await stranger.make({ key })).body.reason, 'bad_room_key')
  const noPoint = { access: '_'.repeat(43), line: await stranger.seal('policy') }
  assert.equal((await stranger.call('make', noPoint)).body.reason, 'bad_room_key')
  assert.equal((await stranger.read()).status, 404)
  assert.equal((await client.read()).body.count, 1)
})

test('a clock that is wrong by more than five minutes is named as the reason', async () => {
  const client = await made()
  const at = (minutes: number) => ({ nowMs: Date.now() + minutes * 60_000 })
  for (const forged of [at(-5.1), at(5.1), { claims: { iat: undefined } }, { claims: { iat: '1' } }]) {
    const { status, body } = await client.append('late', forged)
    assert.deepEqual([status, body], [403, { error: 'not_authorized', reason: 'bad_clock' }])
  }
  assert.equal((await client.append('in time', at(-4.9))).status, 200)
  assert.equal((await client.append('in time', at(4.9))).status, 200)
})

test('each kind of room refuses the ops of the other, and a name is used once', async () => {
  const client = await made()
  const { room, mk } = client
  await client.append('x')
  const message = { text: 'hello' }
  for (const [op, fields] of Object.entries({
    poll: {},
    turn: { message },
    rename: { title: 'x' },
    admit: { emails: ['ada@example.org'] },
    remove: {},
  })) {
    const { status, body } = await space.call(op, { room, mk, ...fields })
    assert.deepEqual([status, body], [409, { error: 'room_exists', reason: 'client_sealed' }], op)
  }
  for (const answer of [await client.make(), await space.call('create', { room, mk, policy: 'open' })])
    assert.deepEqual([answer.status, answer.body], [409, { error: 'room_exists', reason: 'room' }])

  const classic = new SealingClient(space)
  await space.call('turn', { room: classic.room, mk, message })
  for (const answer of [await classic.append('x'), await classic.read()])
    assert.deepEqual([answer.status, answer.body], [409, { error: 'room_exists', reason: 'server_sealed' }])
  assert.equal((await classic.make()).body.reason, 'room')
  assert.equal((await client.read()).body.count, 2)
})

test('a line that is too large is 413, one of another form is 400', async () => {
  const client = await made()
  assert.equal((await client.append('x'.repeat(48_000))).status, 200)
  assert.equal((await client.append('x'.repeat(49_200))).status, 413)
  const line = await client.seal('x')
  for (const wrong of [
    '',
    '{}',
    `${line} `,
    line.replace('"iv"', '"unprotected":{"seq":1},"iv"'),
    line.replace('"tag":"', '"tag":"AA'),
  ])
    assert.equal((await client.call('append', { line: wrong, dedupe: newDedupe() })).status, 400, wrong)
  assert.equal((await client.read()).body.count, 2)
})

test('200 appends at once are one chain, each once', async () => {
  const client = await made()
  const sent = Array.from({ length: 200 }, (_, i) => `n${i}`)
  const append = async (text: string) => {
    const fields = { line: await client.seal(text), dedupe: newDedupe() }
    return untilServed(() => client.call('append', fields))
  }
  const answers = await Promise.all(sent.map(append))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  const [, ...texts] = await client.texts(await client.read())
  assert.deepEqual(texts.toSorted(), sent.toSorted())
  answers.forEach(({ body }, i) => assert.equal(texts[body.seq - 1], sent[i]))
})

test('a full room accepts no line', async () => {
  const client = await made()
  await space.db.query('update rooms set count = 100000 where room = $1', [client.room])
  const { status, body } = await client.append('one too many')
  assert.deepEqual([status, body], [413, { error: 'payload_too_large', reason: 'the room is full' }])
})

test('sealed returns the stored bytes of such a room too', async () => {
  const client = await made()
  await client.append('canary')
  const { body } = await space.call('sealed', { room: client.room })
  assert.deepEqual([body.alg, body.recipients], ['A256GCM', ['room']])
  assert.deepEqual(body.sealed.split('\n'), (await client.read()).body.lines)
  assert.equal(body.sha256, createHash('sha256').update(body.sealed).digest('hex'))
})

test('of a room whose lines name many recipients, sealed holds a bounded number of names', async () => {
  const client = await made()
  let named = 0
  const newLine = (kids: unknown[]) => {
    const recipients = kids.map((kid) => ({ header: { kid } }))
    return JSON.stringify({ protected: 'eA', recipients, iv: 'A'.repeat(16), ciphertext: 'eA', tag: 'A'.repeat(22) })
  }
  const store = async (kids: unknown[]) =>
    assert.equal((await client.call('append', { line: newLine(kids), dedupe: newDedupe() })).status, 200)
  await store([{ kid: 'x' }, 7, 'k'.repeat(129)])
  for (let i = 0; i < 5; i++) await store(Array.from({ length: 2_200 }, () => `n${named++}`))
  const { recipients } = (await space.call('sealed', { room: client.room })).body
  assert.ok(named > 10_000)
  assert.equal(recipients.length, 10_000)
  assert.ok(recipients.every((name: unknown) => typeof name === 'string' && name.length <= 128))
  assert.deepEqual([recipients.includes('room'), recipients.includes('unnamed')], [true, true])
})

test('no table, log line or metric contains the key or a text', async () => {
  const client = await made()
  const text = `canary-${randomBytes(16).toString('hex')}`
  await client.append(text)
  await client.append(text, { after: { line: 'x' } })
  await client.append(text, { nowMs: 0 })
  const tables = await space.db.query<{ name: string }>(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public'",
  )
  const stored: string[] = []
  for (const { name } of tables.rows) {
    const { rows } = await space.db.query<{ row: string }>(`select t::text as row from ${name} t`)
    stored.push(...rows.map(({ row }) => row))
  }
  assert.ok(stored.some((row) => row.includes(client.room)))
  const written = [...stored, ...space.logged, JSON.stringify(space.collect())].join('\n')
  assert.match(written, /"op":"append"/)
  for (const secret of [client.mk, text, Buffer.from(client.mk, 'base64url')]) {
    const bytes = Buffer.from(secret)
    for (const form of [bytes.toString('latin1'), bytes.toString('hex'), bytes.toString('base64url'), bytes.toString('base64')])
      assert.equal(written.includes(form.replace(/=+$/, '')), false)
  }
})
