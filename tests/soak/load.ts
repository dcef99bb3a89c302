import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { makeCollection, makeTenant, type TestCollection, type TestTenant } from '../support/call-api.ts'
import { payCheckout } from '../support/credits.ts'
import { makeAgent, newRoom } from '../support/sessions.ts'
import { callUntilAnswered, noteWrong, type Tally } from './outcome.ts'

/** Acknowledged requests, whose effects are checked at the end. */
interface Acknowledged {
  /** Item ids by collection, each with the number in its content. */
  items: Map<TestCollection, Map<string, number>>
  /** Texts by room, in no order. */
  turns: Map<Room, Set<string>>
  sessions: { launched: number; answered: number; unanswered: number }
  paints: { ready: number; failed: number }
}

export interface Room {
  room: string
  mk: string
}

export interface LoadWorld {
  origin: string
  tenant: TestTenant
  agentId: string
  collections: TestCollection[]
  rooms: Room[]
  acknowledged: Acknowledged
  tally: Tally
  stopped: () => boolean
}

export async function openLoadWorld(origin: string, tally: Tally, stopped: () => boolean): Promise<LoadWorld> {
  const tenant = await makeTenant(origin, 'Soak')
  const collections = await Promise.all(Array.from({ length: 8 }, () => makeCollection(origin, tenant.publishable)))
  const rooms = Array.from({ length: 16 }, newRoom)
  return {
    origin,
    tenant,
    // An agent without an endpoint runs on the platform, and without a model it is the echo.
    agentId: await makeAgent(origin, tenant, { endpoint: undefined, price_credits: 3 }),
    collections,
    rooms,
    acknowledged: {
      items: new Map(collections.map((collection) => [collection, new Map()])),
      turns: new Map(rooms.map((room) => [room, new Set()])),
      sessions: { launched: 0, answered: 0, unanswered: 0 },
      paints: { ready: 0, failed: 0 },
    },
    tally,
    stopped,
  }
}

/** Runs until the soak is over; resolves when the last call has been answered. */
export async function runLoad(world: LoadWorld): Promise<void> {
  const lanes: [count: number, pauseMs: number, step: (world: LoadWorld, n: number) => Promise<void>][] = [
    [6, 20, addItem],
    [4, 20, speak],
    [4, 20, read],
    [2, 200, buyAndLaunch],
    [1, 2_000, paint],
  ]
  let n = 0
  const lane = async (pauseMs: number, step: (world: LoadWorld, n: number) => Promise<void>) => {
    while (!world.stopped()) {
      await step(world, n++)
      await delay(pauseMs)
    }
  }
  await Promise.all(lanes.flatMap(([count, pauseMs, step]) => Array.from({ length: count }, () => lane(pauseMs, step))))
}

async function addItem(world: LoadWorld, n: number): Promise<void> {
  const collection = world.collections[n % world.collections.length]!
  const body = { type: 'message', content: { n, text: 'Lanterns '.repeat(40) } }
  const options = { key: world.tenant.publishable, idempotencyKey: randomUUID(), body }
  const answer = await callUntilAnswered(world, `POST /v1/collections/${collection.id}/items`, options)
  if (answer?.status === 201) world.acknowledged.items.get(collection)!.set(answer.data.id, n)
  else if (answer) noteWrong(world.tally, `item: ${answer.status} ${answer.text}`)
}

async function speak(world: LoadWorld, n: number): Promise<void> {
  const room = world.rooms[n % world.rooms.length]!
  const text = `turn ${n} ${randomUUID()}`
  const body = { op: 'turn', ...room, message: { text, client_id: randomUUID() } }
  const answer = await callUntilAnswered(world, 'POST /v1/space', { body })
  if (answer?.status === 200) world.acknowledged.turns.get(room)!.add(text)
  else if (answer) noteWrong(world.tally, `turn: ${answer.status} ${answer.text}`)
}

async function read(world: LoadWorld, n: number): Promise<void> {
  const { id, token } = world.collections[n % world.collections.length]!
  const { publishable: key } = world.tenant
  const views = ['', '/render', '/items?limit=50', '/artifacts']
  const options = { key, token }
  const answer = await callUntilAnswered(world, `GET /v1/collections/${id}${views[n % views.length]}`, options)
  if (answer && answer.status !== 200) noteWrong(world.tally, `read: ${answer.status} ${answer.text}`)
}

/** A license, its wallet, a coupon, and a session that answers once and is stopped. */
async function buyAndLaunch(world: LoadWorld): Promise<void> {
  const { origin, tenant, agentId, tally, acknowledged } = world
  const key = tenant.secret
  const ask = async (route: string, body: object, status: number) => {
    const answer = await callUntilAnswered(world, route, { key, idempotencyKey: randomUUID(), body })
    if (answer && answer.status !== status) noteWrong(tally, `${route}: ${answer.status} ${answer.text}`)
    return answer?.status === status ? answer.data : undefined
  }
  const back = 'http://localhost/back'
  const order = { purpose: 'license_key', credits: 10, success_url: back, cancel_url: back }
  const checkout = await ask('POST /v1/checkout', order, 201)
  if (!checkout || !(await pay(world, checkout.url))) return
  const paid = await callUntilAnswered(world, `GET /v1/checkout/${checkout.id}`, { key })
  if (!paid?.data.license_key) {
    if (paid) noteWrong(tally, `no license: ${paid.status} ${paid.text}`)
    return
  }
  // Redeeming takes no Idempotency-Key: a repeat is 409, and the code is shown once. A careful client sends a
  // recovery key. Here a lost answer ends the attempt.
  const redeemed = await callUntilAnswered(world, 'POST /v1/wallets/redeem', {
    key,
    body: { license_key: paid.data.license_key },
  })
  if (redeemed?.status !== 201) return
  const coupon = await ask('POST /v1/wallets/grant', { wallet_code: redeemed.data.wallet_code, amount: 5 }, 201)
  if (!coupon) return
  const room = newRoom()
  const session = await ask('POST /v1/sessions', { agent_id: agentId, room, coupon: coupon.coupon }, 201)
  if (!session) return
  acknowledged.sessions.launched++
  await callUntilAnswered(world, 'POST /v1/space', {
    body: { op: 'turn', ...room, message: { text: 'Is anybody there?', client_id: randomUUID() } },
  })
  if (await isAnswered(world, room)) acknowledged.sessions.answered++
  else acknowledged.sessions.unanswered++
  await callUntilAnswered({ origin, tally, stopped: world.stopped }, `POST /sessions/${session.id}/stop`, {
    key: session.control_token,
  })
}

async function pay(world: LoadWorld, url: string): Promise<boolean> {
  for (let attempt = 0; attempt < 60 && !world.stopped(); attempt++) {
    const paid = await payCheckout(url).then(
      () => true,
      () => false,
    )
    if (paid) return true
    await delay(1_000)
  }
  return false
}

async function isAnswered(world: LoadWorld, room: Room): Promise<boolean> {
  for (const deadline = Date.now() + 90_000; Date.now() < deadline && !world.stopped(); await delay(500)) {
    const answer = await callUntilAnswered(world, 'POST /v1/space', {
      body: { op: 'poll', ...room, sinceEtag: '', sinceCount: 0 },
    })
    if (answer?.text.includes('"kind":"agent"')) return true
  }
  return false
}

async function paint(world: LoadWorld, n: number): Promise<void> {
  const { id, token } = world.collections[n % world.collections.length]!
  const options = { key: world.tenant.secret, token }
  const path = `/v1/collections/${id}`
  const body = { prompt: `A lighthouse at night, number ${n}`, size: '1024x1024', seed: n }
  const made = await callUntilAnswered(world, `POST ${path}/paint`, { ...options, idempotencyKey: randomUUID(), body })
  if (made?.status !== 202) {
    if (made && made.status !== 429) noteWrong(world.tally, `paint: ${made.status} ${made.text}`)
    return
  }
  for (const deadline = Date.now() + 120_000; Date.now() < deadline && !world.stopped(); await delay(1_000)) {
    const answer = await callUntilAnswered(world, `GET ${path}/artifacts/${made.data.id}`, options)
    if (!answer || answer.data.status === 'painting') continue
    if (answer.data.status === 'ready') world.acknowledged.paints.ready++
    else world.acknowledged.paints.failed++
    return
  }
}
