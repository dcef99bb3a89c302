import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { gradient } from '@atrium/media/testing/sample-pictures'
import { statement } from '#db/database.ts'
import type { Got } from '#testing/http.ts'
import { send, sendUntilServed } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { StoredWorld, type Place } from '#testing/artifacts/stored-world.ts'
import { expireUploads } from './complete-upload.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ trustProxy: 'loopback' })
})
after(() => api.close())

function announce(world: StoredWorld, place: Place, bytes = 70, more: object = {}): Promise<Got> {
  const body = { kind: 'image', mime: 'image/png', bytes }
  const path = `/collections/${place.id}/artifacts/upload`
  return sendUntilServed(world.api, 'POST', path, { ...place.owner, idempotencyKey: randomUUID(), body, ...more })
}

function assertFull(got: Got, what: RegExp): void {
  assert.deepEqual([got.status, got.body.error.code], [429, 'rate_limited'])
  assert.match(got.body.error.message, what)
  assert.ok(Number(got.headers.get('retry-after')) > 0)
}

async function statusesOf(count: number, one: () => Promise<Got>): Promise<number[]> {
  return (await Promise.all(Array.from({ length: count }, one))).map(({ status }) => status)
}

test('a collection has at most 100 open uploads, however many are announced at once; one that ends makes room', async () => {
  const world = await StoredWorld.open(api)
  const [place, other] = [await world.makeCollection(), await world.makeCollection()]
  const first = (await announce(world, place)).body.data.id as string
  const statuses = await statusesOf(110, () => announce(world, place))
  assert.equal(statuses.filter((status) => status === 201).length, 99)
  assertFull(await announce(world, place), /^This collection has 100 open uploads/)
  assert.equal((await announce(world, other)).status, 201)
  await send(api, 'DELETE', `/collections/${place.id}/artifacts/${first}`, place.owner)
  assert.equal((await announce(world, place)).status, 201)
  assertFull(await announce(world, place), /^This collection/)
  await api.ctx.db.query(
    statement<never>(
      'test-expire-all',
      `update artifact_uploads set expires_at = now() - interval '1 second' where collection_id = $1`,
    ),
    [place.id],
  )
  assert.equal((await announce(world, place)).status, 201, 'what has expired does not count')
})

test('a tenant has at most 1,000 open uploads in all its collections, and another tenant its own', async () => {
  const world = await StoredWorld.open(api)
  const server = { key: world.tenant.secretKey }
  for (let i = 0; i < 10; i++) {
    const place = await world.makeCollection()
    assert.deepEqual([...new Set(await statusesOf(100, () => announce(world, place, 70, server)))], [201])
  }
  assertFull(await announce(world, await world.makeCollection()), /^Your account has 1000 open uploads/)
  const stranger = await StoredWorld.open(api)
  assert.equal((await announce(stranger, await stranger.makeCollection())).status, 201)
})

test('one address has at most as many open uploads as remain free for others', async () => {
  const world = await StoredWorld.open(api)
  const limits = { headers: { 'x-admin-token': api.adminToken }, body: { open_uploads: 40 } }
  assert.equal((await send(api, 'PUT', `/tenants/${world.tenant.id}/limits`, limits)).status, 200)
  const place = await world.makeCollection()
  const from = (address: string) => announce(world, place, 1, { headers: { 'x-forwarded-for': address } })
  const hoard = async (address: string) => (await statusesOf(25, () => from(address))).filter((status) => status === 201).length
  assert.equal(await hoard('192.0.2.1'), 20)
  assertFull(await from('192.0.2.1'), /^This address has 20 open uploads/)
  assert.equal(await hoard('192.0.2.2'), 10)
  assert.equal((await announce(world, place, 1, { key: world.tenant.secretKey })).status, 201)
})

test('a tenant announces at most 20 GiB', async () => {
  const world = await StoredWorld.open(api)
  const place = await world.makeCollection()
  const { id } = (await announce(world, place)).body.data
  // The bytes of 205 of the largest uploads, in one.
  await api.ctx.db.query(
    statement<never>('test-grow', `update artifact_uploads set bytes = 20 * 1024::bigint ^ 3 - 100 where artifact_id = $1`),
    [id],
  )
  assertFull(await announce(world, await world.makeCollection(), 101), /exceed 20 GiB/)
  assert.equal((await announce(world, place, 100)).status, 201)
  assertFull(await announce(world, place, 1), /exceed 20 GiB/)
})

test('an upload can be completed where the clock of the process is two hours behind that of the database', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 2 * 3_600_000 })
  const world = await StoredWorld.open(api)
  const place = await world.makeCollection()
  const picture = await gradient(4, 4).png().toBuffer()
  const { id, upload } = (await announce(world, place, picture.length)).body.data
  await expireUploads(api.ctx, 10_000)
  assert.equal((await world.put(upload, picture)).status, 200)
  assert.equal((await world.ready(place, id)).status, 200)
})

test('an upload is checked although its checker died before the clock of the database was set back', async () => {
  const world = await StoredWorld.open(api)
  const place = await world.makeCollection()
  const picture = await gradient(4, 4).png().toBuffer()
  const { id, upload } = (await announce(world, place, picture.length)).body.data
  await world.put(upload, picture)
  const leave = `update artifact_uploads set lease_owner = 'dead', lease_until = now() + interval '1 hour' where artifact_id = $1`
  await api.ctx.db.query(statement<never>('test-leave', leave), [id])
  assert.equal((await world.ready(place, id)).status, 200)
})
