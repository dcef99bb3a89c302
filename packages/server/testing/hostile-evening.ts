import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { RoomPage } from '@atrium/room-client/space-ops'
import { send } from './http.ts'
import { startHostileServers } from './hostile-servers.ts'
import { longestBlock } from './processor-block.ts'
import { eventually, startSessionWorld, type Room } from './session-world.ts'

/** The Space service accepts 20 calls a second per IP address, which includes the agent's calls. */
const askIntervalMs = 200

export interface HostileEvening {
  /** How long the echo of an honest tenant took for each question while the untrusted servers answered. */
  echoMs: number[]
  /** The same before they came. */
  aloneMs: number[]
  /** The longest time, in processor time, during which nothing else ran in the worker's process. */
  blockMs: number
}

/**
 * Starts this many sessions of each kind with a hostile provider, MCP server or agent, and asks all of them at once.
 * Meanwhile an honest tenant talks to its echo.
 */
export async function spendHostileEvening({ each, echoes }: { each: number; echoes: number }): Promise<HostileEvening> {
  const strangers = await startHostileServers()
  const world = await startSessionWorld()
  try {
    const stranger = await world.api.makeTenant('Stranger')
    const body = { openai_compatible: { url: strangers.providerUrl, key: 'sk-canary-12345' } }
    assert.equal((await send(world.api, 'PUT', '/tenant/provider-keys', { key: stranger.secretKey, body })).status, 200)
    const coupon = await world.makeCoupon(9_000)

    const enter = async (manifest: object, of = stranger): Promise<Room> => {
      const room = world.newRoom()
      const got = await world.launch(await world.makeAgent({ price_credits: 1, ...manifest }, of), room, coupon)
      assert.equal(got.status, 201, got.text)
      return room
    }
    const honest = await enter({}, world.tenant)
    let read = 0
    const ask = async (question: string): Promise<number> => {
      const askedAt = performance.now()
      await world.say(honest, question)
      const answered = async () => {
        const page = (await world.space.call('poll', { ...honest, sinceCount: read })).body as RoomPage
        read = page.count
        return page.entries.some(({ author, message }) => author.kind === 'agent' && message.text.includes(question))
      }
      await eventually(answered, `an answer to ${question}`, 60_000)
      return performance.now() - askedAt
    }
    await ask('warm-up')
    const aloneMs: number[] = []
    for (let i = 0; i < echoes; i++) {
      aloneMs.push(await ask(`first ${i}.`))
      await delay(askIntervalMs)
    }

    const meet = async () => {
      const rooms: Room[] = []
      for (let i = 0; i < each; i++) rooms.push(await enter({ model: { provider: 'openai_compatible', id: `hostile-${i}` } }))
      for (let i = 0; i < each; i++) {
        await enter({ tools: [{ mcp: strangers.mcpUrl(i) }] })
        await enter({ endpoint: strangers.agentUrl(i) })
      }
      await Promise.all(rooms.map((room) => world.say(room, 'Speak.')))
      const hasLeft = async (room: Room) => (await world.entries(room)).some(({ author }) => author.kind === 'agent')
      for (const room of rooms) await eventually(() => hasLeft(room), 'a hostile answer is read, and given up', 120_000)
    }
    const echoMs: number[] = []
    const blockMs = await longestBlock(async () => {
      let met = false
      const meeting = meet().finally(() => (met = true))
      while (!met || echoMs.length < echoes) {
        echoMs.push(await ask(`question ${echoMs.length}.`))
        await delay(askIntervalMs)
      }
      await meeting
    })
    return { echoMs, aloneMs, blockMs }
  } finally {
    await world.close()
    await strangers.close()
  }
}
