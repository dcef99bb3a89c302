import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { serveTestProvider } from '@atrium/identity/testing/serve-provider'
import { fresh, reasonOf, scribe, spacesUrl, startAgentWorld } from './testing/agent-world.ts'
import { startTestSpace, type TestSpace } from './testing/test-space.ts'

let world: Awaited<ReturnType<typeof startAgentWorld>>
before(async () => {
  world = await startAgentWorld()
})
after(() => world.close())

function say(at: TestSpace, secret: object, identity: object) {
  return at.call('turn', { ...secret, ...identity, message: { text: 'x' } })
}

test('without an identity provider agents still enter open rooms as agents', async () => {
  const alone = await startTestSpace(world.forAgents)
  try {
    const secret = fresh()
    assert.equal(reasonOf(await say(alone, secret, (await world.agent()).identity)), 'in')
    assert.equal(reasonOf(await say(alone, secret, {})), 'in')
    const { entries } = (await alone.call('poll', secret)).body
    assert.deepEqual(
      entries.map(({ author }: any) => [author.kind, author.id]),
      [
        ['agent', scribe],
        ['anonymous', undefined],
      ],
    )
  } finally {
    await alone.close()
  }
})

test('the certificate names the platform among the places the service may connect to', async () => {
  const res = await fetch(`${world.space.origin}/cert.json`)
  const { signed } = (await res.json()) as { signed: string }
  const { egress } = JSON.parse(signed) as { egress: string[] }
  assert.deepEqual(egress, ['postgres', world.platform.provider.issuer, world.idp.provider.issuer])
})

test('certificate and page link their proofs in the transparency log of the platform', async () => {
  const { log_proof: address, ...cert } = (await (await fetch(`${world.space.origin}/cert.json`)).json()) as Record<
    string,
    unknown
  >
  const { signed, sig, alg, pubkey } = cert
  const leaf = createHash('sha256').update(`\0${JSON.stringify({ type: 'certificate', signed, sig, alg, pubkey })}`)
  const log = `${new URL(world.platform.provider.issuer).origin}/log`
  assert.equal(address, `${log}/proof/${leaf.digest('hex')}`)
  const page = await fetch(`${world.space.origin}/space`)
  assert.equal(page.headers.get('link'), `<${log}/proof/app_page>; rel="https://c2sp.org/tlog-proof"`)
})

test('keys are asked for once, and again at most once in 30 seconds', async () => {
  const served = await serveTestProvider({ audience: spacesUrl })
  const counted = await startTestSpace({ ...world.forAgents, ATRIUM_PUBLIC_URL: served.provider.issuer })
  try {
    const secret = fresh()
    const shown = await Promise.all(
      Array.from({ length: 40 }, (_, i) => world.agent({ by: served.provider, header: i % 2 ? { kid: `k${i}` } : {} })),
    )
    const answers = await Promise.all(shown.map(({ identity }) => say(counted, secret, identity)))
    const outcomes = new Set(answers.map(reasonOf))
    assert.deepEqual(outcomes, new Set(['in', '403 not_authorized token: bad_signature']))
    assert.deepEqual(served.requests, ['/.well-known/openid-configuration', '/jwks'])
  } finally {
    await counted.close()
    served.close()
  }
})

test('while the platform is away agents wait with 503, and people are not troubled', async () => {
  const gone = await serveTestProvider({ audience: spacesUrl })
  gone.close()
  const { issuer } = gone.provider
  const cut = await startTestSpace({ ...world.forAgents, ...world.forPeople, ATRIUM_PUBLIC_URL: issuer })
  try {
    const { secret, owner } = await world.emailRoom({ agents: [scribe] }, cut)
    const { identity } = await world.agent({ by: gone.provider })
    const refused = await cut.call('poll', { ...secret, ...identity })
    assert.deepEqual([refused.status, refused.body.error], [503, 'unavailable'])
    assert.equal(refused.headers.get('retry-after'), '30')
    assert.equal(reasonOf(await say(cut, secret, owner.identity)), 'in')
  } finally {
    await cut.close()
  }
})

test('keys are not fetched in plain http from another machine: agents are then not let in, and the log says so', async () => {
  const plain = await startTestSpace({ ...world.forAgents, ATRIUM_PUBLIC_URL: 'http://api.example' })
  try {
    const refused = await say(plain, fresh(), (await world.agent()).identity)
    assert.equal(reasonOf(refused), '403 not_authorized token: bad_issuer')
    assert.ok(plain.logged.some((line) => line.includes('ATRIUM_PUBLIC_URL')))
    const { signed } = (await (await fetch(`${plain.origin}/cert.json`)).json()) as { signed: string }
    assert.deepEqual((JSON.parse(signed) as { egress: string[] }).egress, ['postgres'])
  } finally {
    await plain.close()
  }
})
