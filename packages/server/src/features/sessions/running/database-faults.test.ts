import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { sendUntilServed } from '#testing/http.ts'
import { eventually, startSessionWorld, type Room, type SessionWorld } from '#testing/session-world.ts'

const sessionCount = 20
const kills = 5

let world: SessionWorld
/** A connection that the test does not kill. */
let killer: pg.Client

before(async () => {
  world = await startSessionWorld()
  killer = new pg.Client({ connectionString: world.api.databaseUrl })
  await killer.connect()
})

after(async () => {
  await killer.end()
  await world.close()
})

async function killConnections(): Promise<number> {
  const { rows } = await killer.query<{ killed: boolean }>(
    `select pg_terminate_backend(pid) as killed from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  )
  return rows.length
}

/** Posts the text once, however often it has to send it. */
async function insistOnSaying(room: Room, text: string): Promise<string> {
  const message = { text, client_id: randomUUID() }
  return eventually(
    async () => {
      const got = await world.space.call('turn', { ...room, message })
      return got.status === 200 && (got.body.id as string)
    },
    `"${text}" is said`,
    20_000,
  )
}

const hasReply = async (room: Room, id: string) =>
  (await world.entries(room).catch(() => [])).filter(({ message }) => message.reply_to === id).length === 1

test('killing every database connection, again and again, ends none of 20 running sessions and bills none', async () => {
  const agentId = await world.makeAgent()
  const coupon = await world.makeCoupon(5 * sessionCount)
  const sessions = await Promise.all(
    Array.from({ length: sessionCount }, async () => {
      const room = world.newRoom()
      const body = { agent_id: agentId, room, coupon }
      const options = { key: world.tenant.secretKey, idempotencyKey: randomUUID(), body }
      const got = await sendUntilServed(world.api, 'POST', '/sessions', options)
      assert.equal(got.status, 201, got.text)
      return { room, id: got.body.data.id as string, token: got.body.data.control_token as string }
    }),
  )
  for (let kill = 0; kill < kills; kill++) {
    const asked = await Promise.all(sessions.map(({ room }) => insistOnSaying(room, `turn ${kill}`)))
    // The agents are answering now, each between the room and the database.
    assert.ok((await killConnections()) > 0)
    const all = () => Promise.all(sessions.map(({ room }, i) => hasReply(room, asked[i]!)))
    await eventually(async () => (await all()).every(Boolean), `turn ${kill} is answered once in every room`, 20_000)
  }
  const states = await Promise.all(
    sessions.map(async ({ id, token }) => {
      const got = await eventually(async () => {
        const answer = await world.control('GET', `/sessions/${id}`, token)
        return answer.status === 200 && answer
      }, 'the status is read')
      return [got.body.data.status, got.body.data.charged_credits, got.body.data.error?.code]
    }),
  )
  assert.deepEqual(states, Array(sessionCount).fill(['running', 0, undefined]))
  assert.deepEqual(await world.balance(coupon), { balance: 0, held: 5 * sessionCount, currency: 'credits' })
})
