import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { send, type Got } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { ArtifactGenerator } from '../artifacts/generation/artifact-generator.ts'
import { StoredWorld, type Place } from '#testing/artifacts/stored-world.ts'

let api: TestApi
let world: StoredWorld
before(async () => {
  api = await startTestApi()
})
after(() => api.close())
beforeEach(async () => {
  world = await StoredWorld.open(api)
})

/** A picture of one pixel. */
const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const setQuota = async (bytes: number) => {
  const headers = { 'x-admin-token': api.adminToken }
  const set = await send(api, 'PUT', `/tenants/${world.tenant.id}/limits`, { headers, body: { stored_bytes: bytes } })
  assert.equal(set.status, 200, set.text)
}
const usedBytes = async (): Promise<number> => {
  const headers = { 'x-admin-token': api.adminToken }
  return (await send(api, 'GET', `/tenants/${world.tenant.id}/limits`, { headers })).body.data.stored_bytes_used
}
const announce = (place: Place, bytes: number) => world.announce(place, { kind: 'image', mime: 'image/png', bytes })

/** The count that the triggers keep, checked against the sum of the rows. */
async function assertCounted(): Promise<number> {
  const { rows } = await api.ctx.db.pool.query<{ counted: number; summed: number }>(
    `select coalesce((select bytes from stored_bytes where tenant_id = $1), 0) as counted,
       coalesce((select sum(bytes) from artifacts where tenant_id = $1), 0)::bigint as summed`,
    [world.tenant.id],
  )
  assert.equal(rows[0]!.counted, rows[0]!.summed)
  return rows[0]!.counted
}

function assertExceeded({ status, body }: Got): void {
  assert.deepEqual([status, body.error?.code], [413, 'quota_exceeded'], JSON.stringify(body))
}

test('of 50 concurrent uploads against a quota for 7, exactly 7 are announced, with either kind of key', async () => {
  const place = await world.makeCollection()
  await setQuota(7 * 1_000)
  const secret = { ...place, owner: { ...place.owner, key: world.tenant.secretKey } }
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => announce(i % 2 ? place : secret, 1_000)))
  assert.equal(answers.filter(({ status }) => status === 201).length, 7)
  for (const answer of answers) if (answer.status !== 201) assertExceeded(answer)
})

test('stored bytes count until their artifact or collection is deleted', async () => {
  const [place, other] = [await world.makeCollection(), await world.makeCollection()]
  const first = await world.upload(place, dot, 'image/png')
  const bytes = first.got.body.data.bytes as number
  for (const one of [place, other, other]) assert.equal((await world.upload(one, dot, 'image/png')).got.status, 200)
  assert.equal(await assertCounted(), 4 * bytes)
  assert.equal(await usedBytes(), 4 * bytes)
  await setQuota(4 * bytes)
  assertExceeded(await announce(place, 1))
  await send(api, 'DELETE', `/collections/${place.id}/artifacts/${first.id}`, place.owner)
  assert.equal(await assertCounted(), 3 * bytes)
  assert.equal((await announce(place, bytes)).status, 201)
  assertExceeded(await announce(place, 1))
  await send(api, 'DELETE', `/collections/${other.id}`, other.owner)
  assert.equal(await assertCounted(), bytes)
})

test('a stored upload cannot exceed the quota; it stays open, and completes when there is room', async () => {
  const place = await world.makeCollection()
  const { data } = (await announce(place, dot.length)).body
  assert.equal((await world.put(data.upload, dot)).status, 200)
  await setQuota(1)
  assertExceeded(await world.ready(place, data.id))
  assert.equal((await world.get(place, data.id)).body.data.status, 'painting')
  assert.equal(await assertCounted(), 0)
  await setQuota(10_000)
  assert.equal((await world.ready(place, data.id)).status, 200)
  assert.ok((await assertCounted()) > 0)
})

test('generated artifacts count; one beyond the quota is not stored, its free paint is returned, and no new one starts', async () => {
  const generator = new ArtifactGenerator(api.ctx, api.databaseUrl, 2)
  await generator.start()
  try {
    const place = await world.makeCollection()
    const start = (path: string, body: object) =>
      send(api, 'POST', `/collections/${place.id}/${path}`, { ...place.owner, idempotencyKey: randomUUID(), body })
    const made = async (started: Got) => {
      assert.equal(started.status, 202, started.text)
      for (const deadline = Date.now() + 60_000; ;) {
        const { data } = (await world.get(place, started.body.data.id)).body
        if (data.stage === 'done') return data
        assert.ok(Date.now() < deadline, 'it is made, or not')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    const card = await made(await start('produce', { kind: 'card', title: 'Lantern night' }))
    assert.equal(card.status, 'ready', JSON.stringify(card))
    const picture = await made(await start('paint', { prompt: 'a lamp' }))
    assert.equal(await assertCounted(), card.bytes + picture.bytes)
    await setQuota(card.bytes + picture.bytes + 1)
    const late = await made(await start('paint', { prompt: 'another lamp' }))
    assert.deepEqual([late.status, late.error.code], ['quota_exceeded', 'quota_exceeded'])
    assert.equal(await assertCounted(), card.bytes + picture.bytes)
    const { rows } = await api.ctx.db.pool.query('select sum(used)::int as used from paint_allowances where tenant_id = $1', [
      world.tenant.id,
    ])
    assert.deepEqual(rows, [{ used: 1 }])
    const { rows: removals } = await api.ctx.db.pool.query('select from blob_deletions where target like $1', [`%${late.id}%`])
    assert.ok(removals.length > 0, 'what it had stored goes')
    await setQuota(card.bytes + picture.bytes)
    assertExceeded(await start('paint', { prompt: 'a third lamp' }))
    assertExceeded(await start('produce', { kind: 'card' }))
  } finally {
    await generator.stop()
  }
})

test('the count equals the sum after concurrent uploads, deletions and lost connections', async () => {
  const places = await Promise.all(Array.from({ length: 6 }, () => world.makeCollection()))
  const storm = places.map(async (place, i) => {
    const stored = await Promise.allSettled(Array.from({ length: 4 }, () => world.upload(place, dot, 'image/png')))
    const kept = stored.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []))
    if (i % 3 === 0) return send(api, 'DELETE', `/collections/${place.id}`, place.owner)
    return Promise.allSettled(
      kept.slice(0, 2).map((id) => send(api, 'DELETE', `/collections/${place.id}/artifacts/${id}`, place.owner)),
    )
  })
  let over = false
  const done = Promise.allSettled(storm).then(() => {
    over = true
  })
  while (!over) {
    // Ends the connections of transactions that are running.
    await api.ctx.db.pool
      .query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and state = 'idle in transaction' limit 1`,
      )
      .catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await done
  await assertCounted()
})
