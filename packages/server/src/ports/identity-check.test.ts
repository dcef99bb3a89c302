import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createTestDevice, createTestProvider } from '@atrium/identity/testing/provider'
import { longestBlock } from '#testing/processor-block.ts'
import { openIdentityCheck } from './identity-check.ts'

const { spk, nonce } = await createTestDevice()
const audience = 'atrium'

type Answer = (res: ServerResponse, honest: string) => void

/** An identity provider whose discovery document and key set are sent as a test says. */
async function startProvider(t: TestContext, { document, keys }: { document?: Answer; keys?: Answer }) {
  const server = createServer((req, res) => {
    asked.push(req.url ?? '')
    const isKeys = req.url === '/jwks'
    const honest = JSON.stringify(isKeys ? { keys: [provider.publicJwk] } : { issuer, jwks_uri: `${issuer}/jwks` })
    const answer = (isKeys ? keys : document) ?? ((to, text) => void to.end(text))
    answer(res, honest)
  })
  const asked: string[] = []
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = await createTestProvider({ issuer, audience })
  const check = openIdentityCheck({ issuer, clientId: audience })
  const refusal = async (idToken: string) => check.refusalOf({ idToken, spk }, () => 'listed')
  return { provider, asked, refusal }
}

const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, ' '))
const endlessly = (res: ServerResponse) => {
  const more = () => {
    if (!res.destroyed) res.write(' '.repeat(65_536), () => setImmediate(more))
  }
  more()
}
const hostile: [string, Answer][] = [
  ['does not end', endlessly],
  ['is a bomb in gzip', (res) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)],
  [
    'is packed many times over',
    (res, text) => void res.writeHead(200, { 'content-encoding': 'gzip, gzip, gzip, gzip, gzip, gzip' }).end(text),
  ],
  ['is nested without end', (res) => void res.end('['.repeat(60_000))],
  ['is a list of nothing', (res) => void res.end(`[${'1,'.repeat(30_000)}1]`)],
  ['redirects', (res) => void res.writeHead(302, { location: 'http://169.254.169.254/' }).end()],
  ['is an error', (res, text) => void res.writeHead(500).end(text)],
  ['has no words', (res) => void res.end('null')],
  ['is not JSON', (res) => void res.end('<html>')],
]

for (const [what, answer] of hostile) {
  test(`a provider whose discovery document or key set ${what} is unavailable, and holds nobody`, async (t) => {
    for (const part of ['document', 'keys'] as const) {
      const { provider, refusal } = await startProvider(t, { [part]: answer })
      const idToken = await provider.sign({ nonce })
      const blockMs = await longestBlock(() => assert.rejects(refusal(idToken), { code: 'unavailable' }, part))
      assert.ok(blockMs < 150, `it took ${blockMs.toFixed()} ms at once`)
    }
  })
}

const cut: Answer = (res, text) => void res.writeHead(200, { 'content-length': '10000' }).end(text)
const dribble: Answer = (res) => {
  const timer = setInterval(() => res.write(' '), 50)
  res.once('close', () => clearInterval(timer))
}

test('a provider that sends an answer in part, or dribbles, is given up after five seconds', { timeout: 20_000 }, async (t) => {
  const given = [{ document: cut }, { keys: cut }, { document: dribble }, { keys: dribble }]
  const providers = await Promise.all(given.map((answers) => startProvider(t, answers)))
  const checks = await Promise.all(
    providers.map(async ({ provider, refusal }) => ({ refusal, idToken: await provider.sign({ nonce }) })),
  )
  const blockMs = await longestBlock(() =>
    Promise.all(checks.map(({ refusal, idToken }) => assert.rejects(refusal(idToken), { code: 'unavailable' }))),
  )
  assert.ok(blockMs < 150, `it took ${blockMs.toFixed()} ms at once`)
})

test('thousands of keys, keys under one kid and keys of every kind: the first that fits counts, and no other algorithm', async (t) => {
  const many: Answer = (res, text) => {
    const [{ ...good }] = (JSON.parse(text) as { keys: [Record<string, unknown>] }).keys
    const others = [null, 1, 'x', [], { kty: 'oct', k: 'c2VjcmV0', kid: good['kid'] }, { ...good, e: 'AQ' }, { ...good, n: 5 }]
    const small = Array.from({ length: 5_000 }, (_, i) => ({ kid: `${i}` }))
    res.end(JSON.stringify({ keys: [...others, good, { ...good, e: 'Aw' }, ...small].slice(0, 4_000) }))
  }
  const { provider, refusal, asked } = await startProvider(t, { keys: many })
  const good = await provider.sign({ nonce })
  assert.equal(await refusal(good), undefined)
  const [, payload, signature] = good.split('.')
  const { kid } = JSON.parse(Buffer.from(good.split('.')[0]!, 'base64url').toString()) as { kid: string }
  for (const alg of ['none', 'HS256', 'PS256', 'RS512', 'rs256']) {
    const header = Buffer.from(JSON.stringify({ alg, kid })).toString('base64url')
    assert.equal(await refusal(`${header}.${payload}.${signature}`), 'token: bad_signature', alg)
  }
  assert.equal(asked.length, 2)
})
