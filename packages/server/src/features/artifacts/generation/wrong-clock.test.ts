import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { send } from '#testing/http.ts'
import { eventually } from '#testing/session-world.ts'
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
    const read = () => send(api, 'GET', `${path}/artifacts/${painted.body.data.id}`, owner)
    // Painting takes seconds of processor time.
    await eventually(async () => (await read()).body.data.status === 'ready', 'the picture is ready', 120_000)
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
  const isReady = async () => {
    const { status, error } = (await send(api, 'GET', `${path}/artifacts/${painted.body.data.id}`, owner)).body.data
    assert.equal(error, undefined)
    return status === 'ready'
  }
  await eventually(isReady, 'the picture is ready', 120_000)
})
