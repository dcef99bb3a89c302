import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { makePlatformKey } from '#features/platform-keys/platform-keys.ts'
import { insertKey } from '#features/platform-keys/store.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

/** Time passes, and then the clock of the machine is set back by an hour. */
function setBackAfter(t: TestContext, seconds: number): void {
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() + seconds * 1_000)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + seconds * 1_000 - 3_600_000 })
}

test('a lost database is noticed after a clock was set back', async (t) => {
  assert.equal((await fetch(`${api.origin}/readyz`)).status, 200)
  setBackAfter(t, 2)
  t.mock.method(api.ctx.db, 'query', () => Promise.reject(new Error('the database is away')))
  assert.equal((await fetch(`${api.origin}/readyz`)).status, 503)
})

test('a new key is published within a minute after a clock was set back', async (t) => {
  const kids = async () => {
    const { keys } = (await (await fetch(`${api.origin}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] }
    return keys.map(({ kid }) => kid)
  }
  const before = await kids()
  await api.ctx.db.pool.query("update platform_keys set retired_at = now() where purpose = 'quotes'")
  const made = await makePlatformKey(api.ctx.vault, 'quotes')
  await insertKey(api.ctx.db, 'quotes', made)
  assert.equal(before.includes(made.id), false)
  setBackAfter(t, 61)
  assert.equal((await kids()).includes(made.id), true)
})
