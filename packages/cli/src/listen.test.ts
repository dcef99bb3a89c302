import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { newCredential } from '../../server/src/crypto/random.ts'
import { send } from '../../server/testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '../../server/testing/test-api.ts'
import { runAtrium, type AtriumRun } from '../../../tests/support/run-atrium.ts'

const received: { body: string; headers: IncomingHttpHeaders }[] = []
const receiver = createServer((req, res) => {
  let body = ''
  req.on('data', (chunk) => (body += chunk))
  req.on('end', () => {
    received.push({ body, headers: req.headers })
    res.writeHead(204).end()
  })
})
let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
})
after(async () => {
  receiver.close()
  await api.close()
})

const listen = (args: string[], key: string, url = api.origin) =>
  runAtrium(['listen', ...args], { ATRIUM_PUBLIC_URL: url, ATRIUM_KEY: key })

async function makeCollection(): Promise<void> {
  const headers = { authorization: `Bearer ${tenant.secretKey}`, 'content-type': 'application/json' }
  const { status } = await fetch(`${api.baseUrl}/collections`, { method: 'POST', headers, body: '{}' })
  assert.equal(status, 201)
}

async function untilPrinted(run: AtriumRun, pattern: RegExp): Promise<RegExpExecArray> {
  for (let i = 0; i < 1_200; i++) {
    const found = pattern.exec(run.output())
    if (found) return found
    await delay(50)
  }
  throw new Error(`it did not print ${pattern}: ${run.output()}`)
}

test('it prints events of the chosen types and sends them on, signed as a webhook is', async () => {
  const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const run = listen(['--types', 'collection.created', '--forward', hook, '--json'], tenant.secretKey)
  const [, secret = ''] = await untilPrinted(run, /signed with (whsec_\S+)/)
  let event: { id: string; type: string; data: { collection_id: string } } | undefined
  for (let i = 0; !event && i < 100; i++) {
    // The stream begins a moment after the line.
    await makeCollection()
    await delay(100)
    const line = run
      .output()
      .split('\n')
      .find((text) => text.startsWith('{'))
    event = line === undefined ? undefined : JSON.parse(line)
  }
  assert.ok(event)
  assert.equal(event.type, 'collection.created')
  await untilPrinted(run, /204 of http:\S+ in \d+ ms/)
  const [first] = received
  assert.ok(first)
  assert.deepEqual(new Webhook(secret).verify(first.body, first.headers as Record<string, string>), event)
  run.kill()
  assert.equal(await run.ended(20_000), 0)
})

test('it ends without a stack when nobody reads its output any more', async () => {
  const run = listen([], tenant.secretKey)
  await untilPrinted(run, /Events of .+, from now on\./)
  run.closeOutput()
  let code: number | null | undefined
  for (let i = 0; code === undefined && i < 100; i++) {
    // The stream begins a moment after the line.
    await makeCollection()
    code = await run.ended(100)
  }
  assert.equal(code, 141)
  assert.match(run.output(), /^Events of \S+, from now on\.\n$/)
})

test('a wrong key, address or option ends it with one line', async () => {
  const cases: [AtriumRun, RegExp][] = [
    [runAtrium(['listen'], { ATRIUM_PUBLIC_URL: api.origin }), /^atrium: no secret key: set ATRIUM_KEY/],
    [listen([], tenant.secretKey.slice(0, -1)), /^atrium: ATRIUM_KEY is not a complete secret key/],
    [listen([], tenant.publishableKey), /^atrium: ATRIUM_KEY is a publishable key/],
    [listen([], newCredential('secretKey')), new RegExp(`^atrium: ${api.origin}: .*unknown, expired or revoked`)],
    [listen([], tenant.secretKey, 'http://127.0.0.1:9'), /^atrium: no server answers at http:\/\/127\.0\.0\.1:9/],
    [listen(['--types', 'item.made'], tenant.secretKey), /"item\.made" is not a type of event/],
    [listen(['--forward', 'localhost:3000'], tenant.secretKey), /must be an address such as/],
    [
      listen(['--forward', 'http://127.0.0.1:9', '--secret-file', '/dev/null'], tenant.secretKey),
      /must be a file with a webhook secret/,
    ],
  ]
  for (const [run, expected] of cases) {
    assert.equal(await run.ended(20_000), 1, run.output())
    assert.match(run.output(), expected)
  }
})

test('a lost connection is reported, and opened again after the last event; a revoked key ends it', async (t) => {
  const { port } = new URL(api.origin)
  const sockets = new Set<Socket>()
  let isDown = false
  const between = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    if (isDown) return void socket.resetAndDestroy()
    const onward = connect(Number(port), '127.0.0.1').on('error', () => undefined)
    socket.pipe(onward).pipe(socket)
    socket.on('close', () => onward.destroy())
  })
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
  t.after(() => between.close())
  const made = await send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, body: { kind: 'secret' } })
  const address = `http://127.0.0.1:${(between.address() as AddressInfo).port}`
  const run = listen(['--types', 'collection.created'], made.body.data.key, address)
  await untilPrinted(run, /from now on/)
  // The stream begins a moment after the line.
  for (let tries = 0; tries < 100 && !run.output().includes('collection.created evt_'); tries++) {
    await makeCollection()
    await delay(100)
  }
  isDown = true
  for (const socket of sockets) socket.destroy()
  await untilPrinted(run, /No connection to http:\S+ \(network_error\)/)
  const missed = await send(api, 'POST', '/collections', { key: tenant.secretKey, body: {} })
  isDown = false
  await untilPrinted(run, /Connected to http:\S+ again/)
  await untilPrinted(run, new RegExp(missed.body.data.id))
  assert.equal(run.output().match(/No connection/g)?.length, 1)
  await send(api, 'DELETE', `/tenant/keys/${made.body.data.id}`, { key: tenant.secretKey })
  assert.equal(await run.ended(20_000), 1)
  assert.match(run.output().trim().split('\n').at(-1) ?? '', /^atrium: http:\S+: .*unknown, expired or revoked/)
})
