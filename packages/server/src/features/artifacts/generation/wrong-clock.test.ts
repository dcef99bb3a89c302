import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { send } from '#testing/http.ts'
import { startTestApi } from '#testing/test-api.ts'
import { ArtifactGenerator } from './artifact-generator.ts'

for (const left of ['run_at', 'lease_until'])
  test(`a picture is painted although its ${left} is an hour ahead, as after the clock of the database was set back`, async (t) => {
    const api = await startTestApi()
    t.after(() => api.close())
    const { publishableKey: key } = await api.makeTenant()
    const made = (await send(api, 'POST', '/collections', { key, body: {} })).body.data
    const owner = { key, collectionToken: made.admin_token }
    const path = `/collections/${made.id}`
    const asked = { ...owner, idempotencyKey: randomUUID(), body: { prompt: 'A harbour at dusk' } }
    const painted = await send(api, 'POST', `${path}/paint`, asked)
    await api.ctx.db.pool.query(`update artifact_jobs set ${left} = now() + interval '1 hour', lease_owner = 'dead'`)
    const generator = new ArtifactGenerator(api.ctx, api.databaseUrl, 1)
    await generator.start()
    t.after(() => generator.stop())
    for (let looks = 0; looks < 100; looks++) {
      if ((await send(api, 'GET', `${path}/artifacts/${painted.body.data.id}`, owner)).body.data.status === 'ready') return
      await delay(100)
    }
    assert.fail('the picture is not ready after ten seconds')
  })

test('a worker whose clock is ahead of that of the API paints', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const { publishableKey: key } = await api.makeTenant()
  const made = (await send(api, 'POST', '/collections', { key, body: {} })).body.data
  const owner = { key, collectionToken: made.admin_token }
  const body = { prompt: 'A harbour at dusk' }
  const path = `/collections/${made.id}`
  const painted = await send(api, 'POST', `${path}/paint`, { ...owner, idempotencyKey: randomUUID(), body })
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 10 * 60_000 })
  const generator = new ArtifactGenerator(api.ctx, api.databaseUrl, 1)
  await generator.start()
  t.after(() => generator.stop())
  for (let looks = 0; looks < 100; looks++) {
    const { status, error } = (await send(api, 'GET', `${path}/artifacts/${painted.body.data.id}`, owner)).body.data
    assert.equal(error, undefined)
    if (status === 'ready') return
    await delay(100)
  }
  assert.fail('the picture is not ready after ten seconds')
})
