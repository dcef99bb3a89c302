import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { auditLedger } from '#features/credits/ledger/audit-store.ts'
import { eventually, startSessionWorld, type SessionWorld } from '#testing/session-world.ts'

let world: SessionWorld

before(async () => {
  world = await startSessionWorld({ runner: false })
})
after(() => world.close())

async function launch(manifest: object = {}) {
  const room = world.newRoom()
  const coupon = await world.makeCoupon(5)
  await world.say(room, 'Is anybody there?')
  const got = await world.launch(await world.makeAgent(manifest), room, coupon)
  assert.equal(got.status, 201, got.text)
  const { id, control_token: token } = got.body.data as { id: string; control_token: string }
  const status = async () => (await world.control('GET', `/sessions/${id}`, token)).body.data
  const ends = (withinMs?: number) =>
    eventually(async () => ((await status()).status === 'failed' ? status() : false), 'it fails', withinMs)
  const balance = async () => {
    const { balance: left, held } = await world.balance(coupon)
    return [left, held]
  }
  const hasSaid = (count: number) =>
    eventually(
      async () => (await world.entries(room)).filter(({ author }) => author.kind === 'agent').length === count,
      `the agent has said ${count}`,
    )
  const isTaken = () =>
    eventually(async () => {
      const { rows } = await query('select lease_owner from sessions where id = $1', [id])
      return rows[0]?.['lease_owner'] !== null
    }, 'a worker takes it')
  return { id, room, status, ends, balance, hasSaid, isTaken }
}

const query = (text: string, values: unknown[]) => world.api.ctx.db.pool.query(text, values)
/** The byte of the value at `index` is another one. The bytes 1 to 4 are the id of the master key. */
const changeByte = (id: string, index: number) =>
  query('update sessions set mk_sealed = set_byte(mk_sealed, $2, 255 - get_byte(mk_sealed, $2)) where id = $1', [id, index])

test('a session whose room key does not open ends at once with the reason, and costs nothing', async () => {
  const session = await launch()
  await changeByte(session.id, 90)
  const runner = await world.startRunner()
  const { error, joined_at: joinedAt, charged_credits: charged } = await session.ends()
  assert.deepEqual([error.code, joinedAt, charged], ['internal_error', null, 0])
  assert.match(error.message, /key of the room/)
  assert.deepEqual(await session.balance(), [5, 0])
  await runner.stop()
})

test('an agent that has spoken before the key was lost is paid, as in every session that fails', async () => {
  const session = await launch()
  const first = await world.startRunner()
  await world.say(session.room, 'One.')
  await session.hasSaid(1)
  await first.stop()
  await changeByte(session.id, 90)
  const second = await world.startRunner()
  const { error, charged_credits: charged } = await session.ends()
  assert.deepEqual([error.code, charged], ['internal_error', 5])
  assert.deepEqual(await session.balance(), [0, 0])
  await second.stop()
})

test('a worker without the master key of a room key waits for it, and a worker that has it continues the session', async () => {
  const session = await launch()
  await changeByte(session.id, 1)
  const first = await world.startRunner()
  await session.isTaken()
  await first.stop()
  assert.equal((await session.status()).status, 'launching')
  await changeByte(session.id, 1)
  const second = await world.startRunner()
  await world.say(session.room, 'One.')
  await session.hasSaid(1)
  await second.stop()
})

test('if no worker gets the master key in time, the session fails and costs nothing', async (t) => {
  const session = await launch()
  await changeByte(session.id, 1)
  const runner = await world.startRunner()
  await session.isTaken()
  // A worker waits for 30 seconds.
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() + 30_000)
  const { error, charged_credits: charged } = await session.ends(45_000)
  assert.deepEqual([error.code, charged], ['internal_error', 0])
  assert.deepEqual(await session.balance(), [5, 0])
  await runner.stop()
})

test('a session whose room was removed before the agent came ends at once, and costs nothing', async () => {
  const session = await launch()
  await query('select remove_room($1)', [session.room.room])
  const runner = await world.startRunner()
  const { error, charged_credits: charged } = await session.ends()
  assert.deepEqual([error.code, error.message, charged], ['room_refused', 'The room was removed.', 0])
  assert.deepEqual(await session.balance(), [5, 0])
  await runner.stop()
})

test('the ledger is consistent after all tests', async () => {
  assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, [])
})
