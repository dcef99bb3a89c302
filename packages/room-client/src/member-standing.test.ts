import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestProvider } from '../../identity/src/testing/provider.ts'
import { TokenJudge } from './member-standing.ts'

test('nobody waits more than seconds for a provider that does not answer, and its keys count once they are there', async (t) => {
  const provider = await createTestProvider({ audience: 'spaces' })
  const [discovery, asked] = [Promise.withResolvers<unknown>(), Promise.withResolvers<void>()]
  const answers = async (url: string) => {
    asked.resolve()
    await discovery.promise
    return provider.fetchJson(url)
  }
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const judge = new TokenJudge({ issuer: provider.issuer, clientId: 'spaces' }, { fetchJson: answers })
  const token = { token: await provider.sign({ email: 'ada@example.org', nonce: 'device' }), at: new Date().toISOString() }
  const device = { key: 'device', token, invitedAs: undefined, isRevoked: false }
  const first = judge.judge(device, [])
  await asked.promise
  t.mock.timers.tick(5_000)
  assert.deepEqual(await first, { ok: false, reason: 'unchecked' })
  assert.deepEqual(await judge.judge(device, []), { ok: false, reason: 'unchecked' }, 'the next one does not wait')
  discovery.resolve(undefined)
  t.mock.timers.reset()
  for (let standing = await judge.judge(device, []); !standing.ok; standing = await judge.judge(device, []))
    await new Promise((resolve) => setImmediate(resolve))
})

test('the keys of the provider are fetched again after the clock was set back', async () => {
  const provider = await createTestProvider({ audience: 'spaces' })
  let isReachable = false
  let asked = 0
  const fetchJson = async (url: string) => {
    asked++
    if (!isReachable) throw new Error('not reached')
    return provider.fetchJson(url)
  }
  const rightMs = Date.now()
  let nowMs = rightMs + 6 * 3_600_000
  const judge = new TokenJudge({ issuer: provider.issuer, clientId: 'spaces' }, { fetchJson, nowMs: () => nowMs })
  const token = { token: await provider.sign({ email: 'ada@example.org', nonce: 'device' }), at: new Date(rightMs).toISOString() }
  const device = { key: 'device', token, invitedAs: undefined, isRevoked: false }
  assert.deepEqual(await judge.judge(device, []), { ok: false, reason: 'unchecked' })
  isReachable = true
  const before = asked
  assert.deepEqual(await judge.judge(device, []), { ok: false, reason: 'unchecked' })
  assert.equal(asked, before, 'not more often than twice a minute')
  nowMs = rightMs
  assert.equal((await judge.judge(device, [])).ok, true)
})
