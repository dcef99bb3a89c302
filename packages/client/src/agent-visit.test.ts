import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signCard } from '../../room-client/src/room-device.ts'
import {
  accompanyAgent,
  type AgentVisit,
  launchAgent,
  launchHostedAgent,
  prepareHostedAgent,
  type PreparedAgent,
} from './agent-visit.ts'
import { createClient } from './create-client.ts'
import type { ListedRoom } from './listed-room.ts'
import { newDevice, startListedRooms } from './testing/listed-rooms.ts'

const { newRoom } = startListedRooms()
const MINUTE_MS = 60_000
const FAR = '9999-12-31T10:00:00.000Z'

/** A platform that gives each request the same answer. */
const platform = (answer: () => Response) =>
  createClient({ baseUrl: 'http://platform.example/v1', key: 'pk_none', fetch: async () => answer(), retries: 0 })

const accepting = (expiresAt: string) =>
  platform(() => Response.json({ data: { id: 'ses_x', control_token: 'sct_x', status: 'launching', expires_at: expiresAt } }))

const cardFor = async ({ room }: ListedRoom) => signCard(await newDevice(), room, 'Lamplighter')

async function prepared(): Promise<{ room: ListedRoom; preparation: PreparedAgent }> {
  const { room } = await newRoom()
  const card = await cardFor(room)
  const data = { id: 'ses_a', status: 'armed', summon_key: 'sk_x', card, expires_at: FAR }
  const client = platform(() => Response.json({ data }))
  const preparation = await prepareHostedAgent(
    client,
    room,
    { id: 'agt_x', max_minutes: 30 },
    { coupon: 'cpn_x', max_minutes: 10 },
  )
  return { room, preparation }
}

const minutesUntil = ({ expiresAt }: AgentVisit) => (Date.parse(expiresAt!) - Date.now()) / MINUTE_MS

for (const [what, expiresAt] of [
  ['a far year', FAR],
  ['no time', 'soon'],
] as const)
  test(`the owner keeps the end that was agreed if the platform names ${what}`, async () => {
    const { room, preparation } = await prepared()
    const visit = await launchHostedAgent(accepting(expiresAt), room, preparation)
    assert.ok(minutesUntil(visit) > 9 && minutesUntil(visit) <= 10, visit.expiresAt)
    // What an earlier release has stored does not say how long.
    const { maxMinutes: _, ...stored } = preparation
    const later = await launchHostedAgent(accepting(expiresAt), room, stored)
    assert.ok(minutesUntil(later) > 23 * 60 && minutesUntil(later) <= 24 * 60, later.expiresAt)
  })

for (const [status, code] of [
  [500, 'internal_error'],
  [409, 'idempotency_in_progress'],
] as const)
  test(`a launch that is answered with ${code} may have succeeded, so the device stays for the repeat`, async () => {
    const { room, preparation } = await prepared()
    const failing = platform(() => Response.json({ error: { code, message: 'x' } }, { status }))
    await assert.rejects(launchHostedAgent(failing, room, preparation), { code })
    assert.equal((await room.members()).length, 2)
    await launchHostedAgent(accepting(FAR), room, preparation)
    assert.equal((await room.members()).length, 2)
  })

test('a launch that is refused removes the device', async () => {
  const { room, preparation } = await prepared()
  const refusing = platform(() => Response.json({ error: { code: 'state_conflict', message: 'x' } }, { status: 409 }))
  await assert.rejects(launchHostedAgent(refusing, room, preparation), { code: 'state_conflict' })
  assert.equal((await room.members()).length, 1)
})

test('an end before the agreed one is kept as the platform names it', async () => {
  const { room, preparation } = await prepared()
  const expiresAt = new Date(Date.now() + 3 * MINUTE_MS).toISOString()
  assert.equal((await launchHostedAgent(accepting(expiresAt), room, preparation)).expiresAt, expiresAt)
})

test('of a remote agent, the end is bounded by the quote, the terms and the catalog', async () => {
  const { room } = await newRoom()
  const { publicKey } = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])
  const { x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  const agent = { id: 'agt_x', encryption_key: { kty: 'EC' as const, crv: 'P-256' as const, x: x!, y: y! } }
  const launch = (catalog: object, terms: object) =>
    launchAgent(accepting(FAR), room, { ...agent, ...catalog }, { coupon: 'cpn_x', ...terms })
  const minutes = async (catalog: object, terms: object) => Math.ceil(minutesUntil(await launch(catalog, terms)))
  const claims = (of: object) => `e30.${Buffer.from(JSON.stringify(of)).toString('base64url')}.x`
  assert.equal(await minutes({ max_minutes: 30 }, {}), 30)
  assert.equal(await minutes({ max_minutes: 30 }, { max_minutes: 10 }), 10)
  assert.equal(await minutes({}, { max_minutes: 10 }), 10)
  assert.equal(await minutes({ max_minutes: 30 }, { quote: claims({ max_minutes: 5, sub: 'ägt' }) }), 5)
  assert.equal(await minutes({ max_minutes: 30 }, { quote: claims({ max_minutes: 60 }) }), 60, 'as was quoted before a change')
  assert.equal(await minutes({ max_minutes: 30 }, { quote: claims({ max_minutes: 60 }), max_minutes: 10 }), 10)
  assert.equal(await minutes({ max_minutes: 30 }, { quote: 'no quote' }), 30)
  assert.equal(await minutes({}, {}), 24 * 60)
})

async function hosted(): Promise<{ room: ListedRoom; device: string }> {
  const { room } = await newRoom()
  return { room, device: await room.host({ agent: 'agt_x', card: await cardFor(room) }) }
}

const visitOf = (device: string, leftMs: number) => ({
  session: 'ses_x',
  controlToken: 'sct_x',
  device,
  expiresAt: new Date(Date.now() + leftMs).toISOString(),
})
const often = () => ({ lookEveryMs: 50, signal: AbortSignal.timeout(10_000) })

test('a stored end that is no time has passed', async () => {
  const { room, device } = await hosted()
  const running = platform(() => Response.json({ data: { id: 'ses_x', status: 'running' } }))
  assert.equal(await accompanyAgent(running, room, { ...visitOf(device, 0), expiresAt: 'soon' }, often()), 'expired')
  assert.equal((await room.members()).length, 1)
})

for (const status of [400, 403, 500])
  test(`a platform that answers ${status} keeps the device no longer than agreed`, async (t) => {
    const { room, device } = await hosted()
    let asked = 0
    const refusing = platform(() => {
      asked++
      return Response.json({ error: { code: 'not_authorized', message: 'x' } }, { status })
    })
    const visit = visitOf(device, -1 - MINUTE_MS)
    // It is not over for the first look, however long that takes, and is for the second.
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 10_000 })
    const wait = async () => t.mock.timers.reset()
    assert.equal(await accompanyAgent(refusing, room, visit, { wait }), 'expired')
    assert.equal(asked, 2)
    assert.equal((await room.members()).length, 1)
  })

test('an answer without a status is one that is not known yet', async () => {
  const { room, device } = await hosted()
  const visit = visitOf(device, 1_000 - MINUTE_MS)
  assert.equal(
    await accompanyAgent(
      platform(() => Response.json({})),
      room,
      visit,
      often(),
    ),
    'expired',
  )
  assert.equal((await room.members()).length, 1)
})

test('a platform that never answers keeps the device no longer than agreed', async () => {
  const { room, device } = await hosted()
  const never = (_: unknown, init?: RequestInit) =>
    new Promise<Response>((_, reject) => init?.signal?.addEventListener('abort', () => reject(new TypeError('fetch failed'))))
  const client = createClient({ baseUrl: 'http://platform.example/v1', key: 'pk_none', fetch: never })
  const signal = AbortSignal.timeout(20_000)
  assert.equal(await accompanyAgent(client, room, visitOf(device, -MINUTE_MS), { signal }), 'expired')
  assert.equal((await room.members()).length, 1)
})

test('a visit without an end reports what the platform refuses', async () => {
  const { room, device } = await hosted()
  const { expiresAt: _, ...visit } = visitOf(device, 0)
  const refusing = platform(() => Response.json({ error: { code: 'not_authorized', message: 'x' } }, { status: 403 }))
  await assert.rejects(accompanyAgent(refusing, room, visit, often()), { status: 403 })
  assert.equal((await room.members()).length, 2)
})
