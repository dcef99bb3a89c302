import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { skipWithoutChromium } from '../../packages/web/src/testing/start-test-browser.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, makeTenant, type TestTenant } from '../support/call-api.ts'
import { freeRelayPort, skipWithoutCoturn, startCoturn, type CoturnProcess } from '../support/coturn-process.ts'
import { talkInChromium } from '../support/talk-in-chromium.ts'
import {
  openRelay,
  relayCandidates,
  runUclient,
  talkThroughRelay,
  type Credentials,
  type IceServer,
} from '../support/turn-clients.ts'

const secret = randomBytes(24).toString('hex')

/** Computed as in coturn's documentation, independently of the server's code. */
function forge(username: string, key = secret): Credentials {
  return { username, credential: createHmac('sha1', key).update(username).digest('base64') }
}

/** Chromium gathers no candidates on a machine that has only loopback. */
const skipWithoutNetwork = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ internal, family }) => !internal && family === 'IPv4'),
)
  ? false
  : 'no network here'

const nowSeconds = () => Math.floor(Date.now() / 1_000)

describe('relay credentials, at a real coturn', { skip: skipWithoutCoturn, timeout: 240_000 }, () => {
  let port: number
  let coturn: CoturnProcess
  let database: TestDatabase
  let atrium: AtriumProcess
  let tenant: TestTenant
  before(async () => {
    port = await freeRelayPort()
    coturn = await startCoturn([
      'use-auth-secret',
      `static-auth-secret=${secret}`,
      'realm=turn.test',
      `listening-port=${port}`,
      'listening-ip=127.0.0.1',
      'relay-ip=127.0.0.1',
      `min-port=${Math.min(port + 1, 65_400)}`,
      `max-port=${Math.min(port + 1, 65_400) + 99}`,
      // Here the peers are on this machine too.
      'allow-loopback-peers',
      'no-tls',
      'no-dtls',
      'no-cli',
    ])
    database = await createTestDatabase()
    atrium = await startAtrium({
      databaseUrl: database.url,
      // A child process computes the credentials, so the secret must reach it.
      args: ['--workers', '2'],
      env: {
        TURN_URLS: `stun:127.0.0.1:${port}, turn:127.0.0.1:${port}?transport=udp, turn:127.0.0.1:${port}?transport=tcp`,
        TURN_SECRET: secret,
      },
    })
    tenant = await makeTenant(atrium.origin)
  })
  after(async () => {
    await atrium?.end()
    await database?.drop()
    await coturn?.end()
  })

  async function given(): Promise<IceServer[]> {
    const { text } = await askGood(atrium.origin, 'GET /v1/turn', { key: tenant.publishable })
    return (JSON.parse(text) as { data: { iceServers: IceServer[] } }).data.iceServers
  }

  /** What coturn said about this name. */
  const logOf = (username: string) =>
    coturn
      .output()
      .split('\n')
      .filter((line) => line.includes(`<${username}>`))
      .join('\n')

  for (const [transport, options] of [
    ['UDP', []],
    ['TCP', ['-t']],
  ] as const) {
    test(`credentials from the API open relays over ${transport}`, async () => {
      const [server] = await given()
      const { accepted, output } = await runUclient(port, server!, [...options])
      assert.ok(accepted, output)
      assert.match(output, /tot_send_msgs=2, tot_recv_msgs=2/)
      assert.match(logOf(server!.username), /ALLOCATE processed, success/)
    })
  }

  test('two WebRTC peers connect with these credentials only through the relay', async () => {
    const { heard, candidates } = await talkThroughRelay(await given(), 'hello')
    assert.equal(heard, 'hello')
    assert.ok(candidates.length >= 2)
    for (const candidate of candidates) assert.match(candidate, / 127\.0\.0\.1 \d+ typ relay /)
  })

  test('Chromium takes them as they are', { skip: skipWithoutChromium || skipWithoutNetwork }, async () => {
    const heard = await talkInChromium(`${atrium.origin}/v1/turn`, tenant.publishable, 'hello')
    assert.deepEqual(heard, { heard: 'hello', types: ['relay'] })
  })

  test('the very same way of making them opens a relay where nothing is wrong with them', async (t) => {
    await openRelay(t, port, forge(`${nowSeconds() + 60}:${tenant.id}`))
  })

  describe('no relay for', () => {
    const hour = () => nowSeconds() + 3_600
    const good = () => forge(`${hour()}:${tenant.id}`)
    const refused: [string, () => Credentials | Promise<Credentials>][] = [
      ['expired credentials, though the secret made them', () => forge(`${nowSeconds() - 2}:${tenant.id}`)],
      ['credentials made with another secret', () => forge(`${hour()}:${tenant.id}`, `${secret}0`)],
      ['a credential off by one bit', () => ({ ...good(), credential: flipped(good().credential) })],
      ['an empty credential', () => ({ ...good(), credential: ' ' })],
      ['the name for the credential', () => ({ ...good(), credential: good().username })],
      ['a later expiry in the name', async () => later(await fromApi())],
      ['another tenant in the name', async () => ({ ...(await fromApi()), username: `${hour()}:ten_0000000000000000000000` })],
      ['no expiry in the name', () => forge(tenant.id)],
    ]
    const fromApi = async () => (await given())[0]!

    for (const [name, make] of refused) {
      test(name, async () => {
        const credentials = await make()
        const { accepted, output } = await runUclient(port, credentials)
        assert.ok(!accepted, output)
        assert.match(output, /Cannot complete Allocation/)
        assert.match(logOf(credentials.username), /error 401: Unauthorized/)
      })
    }

    test('a WebRTC peer that comes with expired ones: it finds no candidate', async () => {
      const [server] = await given()
      const urls = server!.urls.filter((url) => url.includes('udp'))
      assert.deepEqual(await relayCandidates([{ urls, ...forge(`${nowSeconds() - 2}:${tenant.id}`) }]), [])
    })
  })

  test('a relay that is in use outlives its credentials, which open no other one', async (t) => {
    const credentials = forge(`${nowSeconds() + 3}:${tenant.id}`)
    const relay = await openRelay(t, port, credentials)
    const deadline = Date.now() + 30_000
    while ((await runUclient(port, credentials)).accepted) assert.ok(Date.now() < deadline, 'they never expire')
    await relay.permit('203.0.113.9')
  })

  test('the secret is in nothing that the server printed', () => {
    assert.ok(!atrium.output().includes(secret))
  })
})

function flipped(credential: string): string {
  const bytes = Buffer.from(credential, 'base64')
  bytes[0]! ^= 1
  return bytes.toString('base64')
}

function later({ username, credential }: Credentials): Credentials {
  const [expiry, tenant] = username.split(':')
  return { username: `${Number(expiry) + 3_600}:${tenant}`, credential }
}
