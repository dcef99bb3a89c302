import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { clearOf } from '../../../../tests/support/clear-of.ts'
import { fresh } from '../testing/agent-world.ts'
import { startTestSpace, type Got, type TestSpace } from '../testing/test-space.ts'
import { sweep } from './store.ts'

const bytesPerDay = 30_000
/** The same for both: addresses are hashed with a secret that comes of it. */
const signingKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()
const limited = {
  ATRIUM_SPACE_SIGNING_KEY: signingKey,
  ATRIUM_RATE_LIMIT: '1',
  ATRIUM_SPACE_ROOMS_PER_HOUR: '5',
  ATRIUM_SPACE_BYTES_PER_DAY: String(bytesPerDay),
}

let space: TestSpace
let second: TestSpace
before(async () => {
  space = await startTestSpace(limited)
  second = await startTestSpace(limited, space.databaseUrl)
})
// Rooms are counted by the hour.
beforeEach(() => clearOf('hour'))
after(async () => {
  await second.close()
  await space.close()
})

const make = (at: TestSpace, from: string) => at.call('create', { ...fresh(), policy: 'open' }, from)
const summary = ({ status, body }: Got) => (status === 200 ? 'in' : `${status} ${body.error} ${body.reason}`)
const allIn = async (answers: Promise<Got>[]) => (await Promise.all(answers)).filter(({ status }) => status === 200).length

test('one address makes so many rooms an hour in all processes together, by create and by turn, and another as many', async () => {
  const from = '192.0.2.10'
  const both = [space, second, space, second, space, second, space, second]
  assert.equal(await allIn(both.map((at) => make(at, from))), 5)
  const refused = await make(space, from)
  assert.equal(summary(refused), '429 rate_limited too many new rooms')
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  const byTurn = await second.call('turn', { ...fresh(), message: { text: 'x' } }, from)
  assert.equal(summary(byTurn), '429 rate_limited too many new rooms')
  assert.equal(summary(await make(space, '192.0.2.11')), 'in')
})

test('a room that was not made counts for nothing', async () => {
  const from = '192.0.2.12'
  const secret = fresh()
  for (let i = 0; i < 8; i++) await space.call('create', { ...secret, policy: 'open' }, from)
  assert.equal(await allIn(Array.from({ length: 4 }, () => make(space, from))), 4)
  assert.equal(summary(await make(space, from)), '429 rate_limited too many new rooms')
})

test('who has many IPv6 networks makes four times as many from a /56 and sixteen times from a /48', async () => {
  const from = (n: number) => `2001:db8:aa:${n.toString(16)}::1`
  let made = 0
  for (let n = 0; n < 8; n++) made += await allIn(Array.from({ length: 6 }, () => make(space, from(n))))
  assert.equal(made, 20, 'of one /56')
  for (let n = 0x100; n < 0x1000; n += 0x40) made += await allIn(Array.from({ length: 6 }, () => make(second, from(n))))
  assert.equal(made, 80, 'of one /48')
  assert.equal(summary(await make(space, '2001:db8:bb::1')), 'in')
})

test('one address writes so many bytes a day in all processes together; what it did not write does not count', async () => {
  const from = '192.0.2.20'
  const secret = fresh()
  const text = 'x'.repeat(3_000)
  const say = (at: TestSpace, more: object = {}) => at.call('turn', { ...secret, message: { text, ...more } }, from)
  assert.equal(summary(await say(space, { client_id: 'once' })), 'in')
  for (let i = 0; i < 20; i++) assert.equal(summary(await say(space, { client_id: 'once' })), 'in', 'a repeat writes nothing')
  let written = 1
  let answer: Got
  for (; (answer = await say([space, second][written % 2]!)).status === 200; written++) {
    assert.ok(written < 20, 'it never ends')
    // What the other process wrote is known after a second.
    await delay(20)
  }
  assert.equal(summary(answer), '429 rate_limited too much written today')
  assert.ok(Number(answer.headers.get('retry-after')) > 0)
  await untilRefused(() => say(space))
  await untilRefused(() => say(second))
  const { rows } = await space.db.query('select bytes from rooms where room = $1', [secret.room])
  assert.ok(Number(rows[0].bytes) > bytesPerDay / 2 && Number(rows[0].bytes) < 2 * bytesPerDay, `${rows[0].bytes} bytes`)
  assert.equal(summary(await space.call('turn', { ...secret, message: { text } }, '192.0.2.21')), 'in')
})

async function untilRefused(call: () => Promise<Got>): Promise<void> {
  for (const deadline = Date.now() + 10_000; summary(await call()) !== '429 rate_limited too much written today'; await delay(50))
    if (Date.now() > deadline) throw new Error('it is not refused')
}

test('no address reaches a table', async () => {
  await make(space, '192.0.2.77')
  const { rows } = await space.db.query('select space_use::text as row from space_use')
  assert.ok(rows.length > 0)
  for (const { row } of rows) assert.equal(/192\.0\.2|2001:db8|20010db8/.test(row), false, row)
})

test('all rooms together have a limit, also where no address has; what is removed makes room', async () => {
  const small = await startTestSpace({ ATRIUM_SPACE_MAX_BYTES: '20000' })
  try {
    const secret = fresh()
    const say = () => small.call('turn', { ...secret, message: { text: 'x'.repeat(3_000) } })
    let answer: Got
    for (let n = 0; (answer = await say()).status === 200; n++) assert.ok(n < 10, 'it never ends')
    assert.equal(summary(answer), '503 unavailable the service has no room for more')
    assert.equal((await small.call('poll', secret)).status, 200, 'reading goes on')
    await small.db.query('delete from rooms where room = $1', [secret.room])
    for (const deadline = Date.now() + 20_000; ; await delay(100)) {
      if ((await small.call('turn', { ...fresh(), message: { text: 'x' } })).status === 200) break
      assert.ok(Date.now() < deadline, 'the room that was made is not found')
    }
  } finally {
    await small.close()
  }
})

test('a name that is in use is said to be, also where nothing more may be written', async () => {
  const secret = fresh()
  const create = (at: TestSpace, made = secret) => at.call('create', { ...made, policy: 'open' }, '192.0.2.40')
  assert.equal(summary(await create(space)), 'in')
  for (const [limit, refused] of [
    [{ ATRIUM_SPACE_MAX_BYTES: '1' }, '503 unavailable the service has no room for more'],
    [{ ATRIUM_SPACE_BYTES_PER_DAY: '1' }, '429 rate_limited too much written today'],
  ] as const) {
    const full = await startTestSpace({ ...limited, ...limit }, space.databaseUrl)
    try {
      assert.equal(summary(await create(full)), '409 room_exists room')
      assert.equal(summary(await create(full, fresh())), refused)
    } finally {
      await full.close()
    }
  }
})

test('a room in which nothing was ever said goes after its days, and its name is not used again; all others stay', async () => {
  const [unused, used, young] = [fresh(), fresh(), fresh()]
  for (const secret of [unused, used, young])
    assert.equal(summary(await space.call('create', { ...secret, policy: 'open' }, '192.0.2.30')), 'in')
  await space.call('turn', { ...used, message: { text: 'x' } }, '192.0.2.30')
  await space.db.query('update new_rooms set made_on = made_on - 8 where room = any($1)', [[unused.room, used.room]])
  await sweep(space.db, { unusedDays: 0, batch: 100 })
  assert.equal((await space.call('poll', unused)).status, 200, 'with 0 they stay')
  await sweep(space.db, { unusedDays: 7, batch: 100 })
  assert.equal((await space.call('poll', unused)).status, 404)
  assert.equal((await space.call('poll', used)).body.count, 2)
  assert.equal((await space.call('poll', young)).status, 200)
  assert.equal(
    summary(await space.call('create', { ...unused, policy: 'open' })),
    '409 room_exists a room of this name was removed',
  )
})
