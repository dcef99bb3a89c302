import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { serveTestProvider } from '@atrium/identity/testing/serve-provider'
import { ProviderKeys } from '@atrium/identity/provider-keys'
import { startLoopClock } from '../../../server/testing/busy-machine.ts'
import { DATABASE, findEgress, openEgress } from './egress.ts'

async function serve(listener: RequestListener): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((req, res) => {
    asked.push(req.url ?? '')
    listener(req, res)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

const elsewhere = await serve((_req, res) => res.end('{"secret":true}'))

test('JSON comes from an origin in the list', async () => {
  assert.deepEqual(await openEgress([DATABASE, elsewhere.origin]).fetchJson(`${elsewhere.origin}/x`), { secret: true })
})

test('every other destination is refused before anything is sent', async () => {
  const { origin, asked } = await serve((_req, res) => res.end('{}'))
  const port = new URL(origin).port
  const { fetchJson } = openEgress([DATABASE, elsewhere.origin, 'https://issuer.example'])
  const others = [
    `${origin}/`,
    `http://localhost:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    `http://2130706433:${port}/`,
    'https://issuer.example.evil.example/',
    'http://issuer.example/',
    'https://issuer.example:444/',
    'https://issuer.example@evil.example/',
    'https://user:pass@issuer.example/',
    'postgres://database/',
    'postgres',
    'data:application/json,{}',
    'file:///etc/passwd',
    'ftp://issuer.example/',
    '',
  ]
  for (const url of others) await assert.rejects(fetchJson(url), url)
  assert.deepEqual(asked, [])
})

test('a redirect is not followed', async () => {
  const before = elsewhere.asked.length
  const { origin } = await serve((_req, res) => res.writeHead(302, { location: `${elsewhere.origin}/stolen` }).end())
  await assert.rejects(openEgress([origin, elsewhere.origin]).fetchJson(origin), /answered 302/)
  assert.equal(elsewhere.asked.length, before)
})

test('an answer that is too long, not JSON, or an error is refused; one that dribbles ends after 5 s', async (t) => {
  const answers: Record<string, RequestListener> = {
    '/long': (_req, res) => res.end(`"${'x'.repeat(65_536)}"`),
    '/endless': (_req, res) => {
      const timer = setInterval(() => res.write('x'.repeat(10_000)), 1)
      res.once('close', () => clearInterval(timer))
    },
    '/text': (_req, res) => res.end('hello'),
    '/error': (_req, res) => res.writeHead(500).end('{}'),
    '/slow': (_req, res) => void res.write('{'),
  }
  const { origin } = await serve((req, res) => answers[req.url ?? '']?.(req, res))
  const { fetchJson } = openEgress([origin])
  const now = startLoopClock(t)
  const startedMs = now()
  await Promise.all(Object.keys(answers).map((path) => assert.rejects(fetchJson(origin + path), path)))
  assert.ok(now() - startedMs < 6_500)
})

test('the list: the database alone; with an issuer its origin, and that of its keys as discovery says', async () => {
  assert.deepEqual(await findEgress({}), { egress: [DATABASE] })
  const { origin: issuer } = await serve((_req, res) =>
    res.end(JSON.stringify({ issuer: `${issuer}/tenant`, jwks_uri: `${elsewhere.origin}/keys` })),
  )
  assert.deepEqual(await findEgress({ issuer: `${issuer}/tenant` }), { egress: [DATABASE, issuer, elsewhere.origin] })
  const configured = await findEgress({ issuer: 'https://issuer.invalid/x', keysOrigin: 'https://keys.example/jwks' })
  assert.deepEqual(configured, { egress: [DATABASE, 'https://issuer.invalid', 'https://keys.example'] })
})

test('a provider that is down, or lies about itself, leaves its own origin, and the reason', async () => {
  const { origin: issuer } = await serve((_req, res) =>
    res.end(JSON.stringify({ issuer: 'https://another.example', jwks_uri: 'https://evil.example/keys' })),
  )
  const { egress, problem } = await findEgress({ issuer })
  assert.deepEqual(egress, [DATABASE, issuer])
  assert.match(String(problem), /does not speak for/)
})

test("identity's provider keys come through it", async () => {
  const { provider, close } = await serveTestProvider()
  after(close)
  const { egress } = await findEgress({ issuer: provider.issuer })
  assert.deepEqual(egress, [DATABASE, provider.issuer])
  const { fetchJson } = openEgress(egress)
  const keys = new ProviderKeys({ issuer: provider.issuer, fetchJson })
  assert.ok(await keys.find(undefined))
})
