import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { accompanyAgent, launchHostedAgent, prepareHostedAgent } from '../../packages/client/src/agent-visit.ts'
import { generateDevicePairs, openListedRoom, roomDeviceOf } from '../../packages/client/src/listed-room.ts'
import { newRoomSecret } from '../../packages/client/src/new-room-secret.ts'
import { startProviderServer, type ProviderServer } from '../../packages/server/testing/provider-server.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { adminToken, startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { eventually, openAgency } from '../support/remote-agents.ts'
import { runAtrium } from '../support/run-atrium.ts'
import { childPids } from '../support/worker-pids.ts'

const linux = { skip: process.platform === 'linux' ? false : 'reads /proc', timeout: 240_000 }
/** A dead worker's lease runs out after 30 seconds. */
const takeoverMs = 60_000

let database: TestDatabase
let provider: ProviderServer
let atrium: AtriumProcess
let agency: Awaited<ReturnType<typeof openAgency>>

before(async () => {
  ;[database, provider] = await Promise.all([createTestDatabase(), startProviderServer()])
  atrium = await startAtrium({ databaseUrl: database.url, space: true, env: { ATRIUM_EGRESS: 'loopback' } })
  agency = await openAgency(atrium.origin)
  await agency.client.setProviderKeys({ body: { openai_compatible: { url: provider.compatibleUrl, key: 'sk-lamps' } } })
})
after(async () => {
  await atrium?.end('SIGKILL')
  await provider?.close()
  await database?.drop()
})

/** Kills the worker process with SIGKILL. Resolves when `atrium start` has started another one. */
async function killWorker(): Promise<void> {
  const workers = () => childPids(atrium.pid, 'job-worker-main.ts')
  const [pid] = workers()
  assert.ok(pid !== undefined, 'a worker runs')
  process.kill(pid, 'SIGKILL')
  await eventually(async () => workers().some((other) => other !== pid), 'another worker is started')
}

/** A hosted agent in a client-sealed room, which has greeted. */
async function openStay() {
  const device = await roomDeviceOf(await generateDevicePairs())
  const place = { spaceUrl: `${atrium.origin}/v1/space`, audience: atrium.spacesOrigin }
  const room = openListedRoom({ ...place, room: newRoomSecret().room, device, name: 'Ada' })
  await room.make()
  const manifest = { name: 'Lamplighter', description: 'Lights lamps.', instructions: '', price_credits: 3, max_minutes: 30 }
  const model = { provider: 'openai_compatible', id: 'lamp-1' } as const
  const { data } = await agency.client.registerAgent({ body: { ...manifest, model, greeting: 'Good evening.' } })
  await agency.client.setAgentStatus({ agentId: data.id, body: { status: 'private' } })
  const coupon = await agency.newCoupon()
  const visit = await launchHostedAgent(
    agency.client,
    room,
    await prepareHostedAgent(agency.client, room, data, { coupon, max_price_credits: 3 }),
  )
  const control = { id: visit.session, controlToken: visit.controlToken }
  const lines: string[] = []
  const readLines = async () => {
    for (const { member, message } of await room.read()) if (member.hostedAgent === data.id) lines.push(message.text)
    return lines
  }
  const hasSaid = (count: number) =>
    eventually(async () => (await readLines()).length >= count && lines, `the agent has said ${count}`, takeoverMs)
  await hasSaid(1)
  return {
    room,
    visit,
    control,
    hasSaid,
    readLines,
    status: async () => (await agency.client.getSession(control)).data,
    balance: () => agency.balance(coupon),
  }
}

async function assertBooksBalance(): Promise<void> {
  const audit = runAtrium(['audit'], {
    DATABASE_URL: database.url,
    ATRIUM_ADMIN_TOKEN: adminToken,
    ATRIUM_PUBLIC_URL: atrium.origin,
  })
  assert.equal(await audit.ended(30_000), 0, audit.output())
}

test(
  'a hosted agent whose worker is killed in the middle of an answer, and after one, goes on and says nothing twice',
  linux,
  async () => {
    const stay = await openStay()
    provider.script({ silent: true })
    const asked = provider.requests.length
    await stay.room.say('Who lights the lamps?')
    await eventually(async () => provider.requests.length > asked, 'the model is asked')
    provider.otherwise = () => ({ text: ['I do.'] })
    await killWorker()
    assert.deepEqual(await stay.hasSaid(2), ['Good evening.', 'I do.'])
    assert.deepEqual(await stay.balance(), [2, 3], 'the price is held')

    // The line is in the room, and the worker dies before it has recorded that.
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      await client.query('begin')
      await client.query('select from sessions where id = $1 for update', [stay.visit.session])
      provider.otherwise = () => ({ text: ['At dusk.'] })
      await stay.room.say('And when?')
      await stay.hasSaid(3)
      await killWorker()
    } finally {
      await client.end()
    }
    // The other worker meets the same line, and then the next one.
    const before = provider.requests.length
    await eventually(async () => provider.requests.length > before, 'the answer is made once more', takeoverMs)
    provider.otherwise = () => ({ text: ['Every evening.'] })
    await stay.room.say('How often?')
    await eventually(async () => (await stay.readLines()).includes('Every evening.'), 'it answers again')
    assert.deepEqual(await stay.readLines(), ['Good evening.', 'I do.', 'At dusk.', 'Every evening.'])

    await agency.client.stopSession(stay.control)
    assert.equal(await accompanyAgent(agency.client, stay.room, stay.visit), 'stopped')
    assert.deepEqual([(await stay.status()).charged_credits, await stay.balance()], [3, [2, 0]])
    await assertBooksBalance()
  },
)

test(
  'a hosted agent that is removed while its worker is dead ends with the reason, and is paid for what it said',
  linux,
  async () => {
    const stay = await openStay()
    provider.otherwise = () => ({ text: ['I do.'] })
    await stay.room.say('Who lights the lamps?')
    await stay.hasSaid(2)
    await killWorker()
    await stay.room.expel([stay.visit.device!])
    await stay.room.say('It has gone.')
    const ended = await eventually(
      async () => {
        const now = await stay.status()
        return now.status === 'failed' && now
      },
      'it fails',
      takeoverMs,
    )
    assert.deepEqual([ended.error?.code, ended.charged_credits, await stay.balance()], ['room_refused', 3, [2, 0]])
    assert.deepEqual(await stay.readLines(), ['Good evening.', 'I do.'])
    await assertBooksBalance()
  },
)
