import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type pg from 'pg'
import { untilBlocked } from '../../server/testing/until-blocked.ts'
import { deleteRoom } from './rooms/store.ts'
import { fresh, startAgentWorld } from './testing/agent-world.ts'
import { startTestSpace, type Got, type TestSpace } from './testing/test-space.ts'

let world: Awaited<ReturnType<typeof startAgentWorld>>
let second: TestSpace
before(async () => {
  world = await startAgentWorld()
  second = await startTestSpace({ ...world.forPeople }, world.space.databaseUrl)
})
after(async () => {
  await second.close()
  await world.close()
})

/** What `call` answers when it began while the room's remove was not committed. */
async function duringRemove(room: string, call: () => Promise<Got>): Promise<Got> {
  const client: pg.PoolClient = await world.space.db.connect()
  try {
    await client.query('begin')
    await deleteRoom(client, room)
    const answer = call()
    await untilBlocked(world.space.db)
    await client.query('commit')
    const answered = await answer
    // The call gives up after 2.5 s, which may be over on a slow machine.
    return answered.status === 503 ? await call() : answered
  } finally {
    client.release()
  }
}

async function whereIs(room: string) {
  const { rows } = await world.space.db.query(
    `select (select count(*)::int from rooms where room = $1) as rooms, (select count(*)::int from removed_rooms where room = $1) as removed,
            (select count(*)::int from room_lines where room = $1) as lines`,
    [room],
  )
  return rows[0]
}

const removed = { rooms: 0, removed: 1, lines: 0 }

test('a create that begins while a remove is not committed finds the name taken', async () => {
  const { secret } = await world.emailRoom()
  const { status, body } = await duringRemove(secret.room, () => second.call('create', { ...secret, policy: 'open' }))
  assert.deepEqual([status, body.error], [409, 'room_exists'])
  assert.deepEqual(await whereIs(secret.room), removed)
})

test('a turn that begins meanwhile makes no open room', async () => {
  const { secret, owner } = await world.emailRoom()
  const { status, body } = await duringRemove(secret.room, () =>
    second.call('turn', { ...secret, ...owner.identity, message: { text: 'late' } }),
  )
  assert.deepEqual([status, body], [404, { error: 'not_found', reason: 'room' }])
  assert.deepEqual(await whereIs(secret.room), removed)
})

for (const op of ['admit', 'expel'])
  test(`${op} that begins meanwhile changes nothing`, async () => {
    const { secret, owner } = await world.emailRoom()
    const { status, body } = await duringRemove(secret.room, () =>
      second.call(op, { ...secret, ...owner.identity, emails: ['ada@example.com'] }),
    )
    assert.deepEqual([status, body], [404, { error: 'not_found', reason: 'room' }])
    assert.deepEqual(await whereIs(secret.room), removed)
  })

test('whatever inserts or deletes a room keeps to it: the tables themselves do', async () => {
  const secret = fresh()
  await second.call('turn', { ...secret, message: { text: 'x' } })
  await world.space.db.query('delete from rooms where room = $1', [secret.room])
  await world.space.db.query(
    `insert into rooms (room, count, etag, bytes, policy_seq, policy_hash) values ($1, 1, 'x', 1, 0, 'x')`,
    [secret.room],
  )
  assert.deepEqual(await whereIs(secret.room), removed)
})

const contest = 'creates, turns and removes of one name at once leave it in one table only'

async function contend(): Promise<void> {
  for (let round = 0; round < 10; round++) {
    const { secret, owner } = await world.emailRoom()
    const late = [world.space, second].flatMap((at) => [
      at.call('create', { ...secret, policy: 'open' }),
      at.call('turn', { ...secret, message: { text: 'x' } }),
    ])
    const [{ status }] = await Promise.all([world.space.call('remove', { ...secret, ...owner.identity }), ...late])
    assert.equal(status, 200)
    assert.deepEqual(await whereIs(secret.room), removed)
  }
}

/** The total is less by the bytes of the room. What the services count meanwhile may disturb a try, a fault disturbs all. */
async function assertFreedOnce(remove: (room: string) => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { freed, bytes } = await freedBy(remove)
    if (freed === bytes) return
    assert.ok(tries < 5, `${freed} instead of ${bytes} bytes`)
  }
}

/** How much the total of all bytes is less after the room was removed, and how many bytes the room had. */
async function freedBy(remove: (room: string) => Promise<unknown>) {
  const secret = fresh()
  await second.call('turn', { ...secret, message: { text: 'x'.repeat(2_000) } })
  const { db } = world.space
  const { rows: rooms } = await db.query('select bytes::int from rooms where room = $1', [secret.room])
  // Larger than what the services count meanwhile could reach by chance.
  await db.query('update space_total set bytes = 1000000')
  await remove(secret.room)
  const { rows: total } = await db.query('select bytes::int from space_total')
  return { freed: 1_000_000 - total[0].bytes, bytes: rooms[0].bytes }
}

test(contest, contend)

test('the bytes of a removed room are subtracted from the total once, whoever deletes it', async () => {
  const client = await world.space.db.connect()
  try {
    const removes = [
      (room: string) => deleteRoom(client, room),
      // As the previous release does, and an operator by hand.
      (room: string) => client.query('delete from rooms where room = $1', [room]),
    ]
    for (const remove of removes) await assertFreedOnce(remove)
  } finally {
    client.release()
  }
})

describe('without the triggers of the table, which Citus does not have', () => {
  before(() => world.space.db.query('alter table rooms disable trigger user'))

  test(contest, contend)

  test('the bytes of a removed room are subtracted from the total once', async () => {
    const client = await world.space.db.connect()
    try {
      await assertFreedOnce((room) => deleteRoom(client, room))
    } finally {
      client.release()
    }
  })
})
