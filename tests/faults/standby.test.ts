import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { skipWithoutPgBouncer, startPgBouncer } from '../../packages/traffic/src/postgres/testing/start-pgbouncer.ts'
import { freePort, startAtrium } from '../support/atrium-process.ts'
import { call, makeTenant, type Answer } from '../support/call-api.ts'
import { skipWithoutPostgresPair, startPostgresPair } from '../support/postgres-pair.ts'
import { runAtrium } from '../support/run-atrium.ts'
import { goodSettings } from '../support/start-settings.ts'

test(
  'a start whose address leads to a standby names the variable and what it must lead to',
  { skip: skipWithoutPostgresPair, timeout: 180_000 },
  async (t) => {
    const pair = await startPostgresPair()
    t.after(() => pair.stop())
    const [primary, standby] = [pair.urlOf(pair.primary), pair.urlOf(pair.standby)]
    const run = async (command: string, env: Record<string, string>) => {
      const ports = { PORT: String(await freePort()), SPACE_PORT: String(await freePort()) }
      return runAtrium([command], { ...(await goodSettings(t)), ...ports, ...env })
    }
    // A standby that lacks the migrations is refused for that, because it cannot get them.
    const migrated = await run('migrate', { DATABASE_URL: primary })
    assert.equal(await migrated.ended(60_000), 0, migrated.output())

    const refused: [string, Record<string, string>, string][] = [
      ...['api', 'worker', 'space', 'start'].map((command): [string, Record<string, string>, string] => [
        command,
        { DATABASE_URL: standby },
        'DATABASE_URL',
      ]),
      ['api', { DATABASE_URL: standby, DATABASE_DIRECT_URL: primary }, 'DATABASE_URL'],
      ['api', { DATABASE_URL: primary, DATABASE_DIRECT_URL: standby }, 'DATABASE_DIRECT_URL'],
      ['space', { DATABASE_URL: primary, SPACE_DATABASE_URL: standby }, 'SPACE_DATABASE_URL'],
      ['start', { DATABASE_URL: primary, SPACE_DATABASE_URL: standby }, 'SPACE_DATABASE_URL'],
    ]
    for (const [command, env, variable] of refused) {
      const start = await run(command, env)
      t.after(() => start.kill('SIGKILL'))
      assert.equal(await start.ended(30_000), 1, `${command}: ${start.output()}`)
      const lines = start
        .output()
        .trim()
        .split('\n')
        .filter((line) => !line.startsWith('{'))
      const reason =
        'the database cannot be used: the server is a standby: the address must lead to the primary, which accepts writes'
      assert.deepEqual(lines, [`atrium: ${variable}: ${reason}`], command)
    }
  },
)

/** A proxy like HAProxy, which leads new connections to another server and leaves the others where they are. */
async function startSwitch(t: TestContext, port: number) {
  let target = port
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const end = () => void [client.destroy(), upstream.destroy()]
    for (const socket of [client, upstream]) sockets.add(socket.on('error', end).on('close', end))
    client.pipe(upstream).pipe(client)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cut = () => sockets.forEach((socket) => socket.destroy())
  t.after(() => void [server.close(), cut()])
  return { port: (server.address() as AddressInfo).port, lead: (to: number) => void (target = to), cut }
}

test(
  'writes go on soon after PgBouncer was led to a standby for a moment: its sessions there are not kept',
  { skip: skipWithoutPostgresPair || skipWithoutPgBouncer, timeout: 180_000 },
  async (t) => {
    const pair = await startPostgresPair()
    t.after(() => pair.stop())
    const path = await startSwitch(t, pair.primary.port)
    const direct = `postgresql://atrium@127.0.0.1:${path.port}/atrium`
    const settings = 'pool_mode = transaction\ndefault_pool_size = 10\nserver_login_retry = 1'
    const pooler = await startPgBouncer({ serverUrl: direct, database: 'atrium', settings })
    t.after(() => pooler.stop())
    const env = { DATABASE_URL: pooler.urlOf('atrium'), DATABASE_DIRECT_URL: direct }
    const atrium = await startAtrium({ databaseUrl: direct, env, space: true })
    t.after(() => atrium.end('SIGKILL'))
    const { publishable: key } = await makeTenant(atrium.origin)
    const room = { room: `quay-${randomUUID()}`, mk: randomBytes(32).toString('base64url') }
    const writes = {
      collection: () => call(atrium.origin, 'POST /v1/collections', { key, body: {} }),
      turn: () =>
        call(atrium.origin, 'POST /v1/space', {
          body: { op: 'turn', ...room, message: { text: 'Hi', client_id: randomUUID() } },
        }),
    }
    const volley = async (write: () => Promise<Answer>) =>
      new Set((await Promise.all(Array.from({ length: 12 }, write))).map(({ status }) => Math.floor(status / 100)))
    for (const write of Object.values(writes)) assert.deepEqual(await volley(write), new Set([2]))

    path.lead(pair.standby.port)
    path.cut()
    for (const deadline = Date.now() + 3_000; Date.now() < deadline;)
      for (const write of Object.values(writes)) await volley(write)
    for (const write of Object.values(writes)) assert.deepEqual(await volley(write), new Set([5]))
    path.lead(pair.primary.port)
    for (const [what, write] of Object.entries(writes))
      for (const deadline = Date.now() + 15_000; (await volley(write)).has(5); await delay(100))
        assert.ok(Date.now() < deadline, `${what}: written again`)
  },
)
