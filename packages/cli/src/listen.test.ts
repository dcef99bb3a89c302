import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
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
  for (let i = 0; i < 200; i++) {
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
  assert.equal(await run.ended(5_000), 0)
})

test('a wrong key, address or option ends it with one line', async () => {
  const cases: [AtriumRun, RegExp][] = [
    [listen([], `wsk_${'A'.repeat(36)}`), /^atrium: .*ATRIUM_KEY/],
    [listen([], tenant.publishableKey), /^atrium: no secret key: set ATRIUM_KEY/],
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
