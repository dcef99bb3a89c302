import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import sharp from 'sharp'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, call, makeCollection, makeTenant, NoAnswer } from '../support/call-api.ts'
import { dot, sendFile, uploadFile, type UploadPlace } from '../support/upload-file.ts'
import { childPids } from '../support/worker-pids.ts'

let database: TestDatabase
let dataDir: string
let atrium: AtriumProcess
let place: UploadPlace
before(async () => {
  ;[database, dataDir] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), 'atrium-stored-'))])
  atrium = await start()
  const { origin } = atrium
  const { publishable: key } = await makeTenant(origin)
  const { id: collection, token } = await makeCollection(origin, key)
  place = { origin, key, collection, token }
})
after(async () => {
  await atrium?.end('SIGKILL')
  await database?.drop()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
})

function start(port?: number): Promise<AtriumProcess> {
  const env = { ATRIUM_DATA_DIR: dataDir }
  return startAtrium({ databaseUrl: database.url, role: 'api', env, ...(port ? { port } : {}) })
}

async function killAndRestart(): Promise<void> {
  await atrium.end('SIGKILL')
  atrium = await start(Number(new URL(place.origin).port))
}

async function storedFiles(): Promise<string[]> {
  const entries = await readdir(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

async function until(holds: () => Promise<boolean>, withinMs: number, what: string): Promise<void> {
  for (const deadline = Date.now() + withinMs; !(await holds()); await delay(50))
    assert.ok(Date.now() < deadline, `not within ${withinMs} ms: ${what}`)
}

test('a process killed after a delete leaves the files to the next one, which removes them', async () => {
  const { origin, key, token } = place
  const { id: collection, token: owner } = await makeCollection(origin, key)
  const there = { ...place, collection, token: owner }
  const { id } = await uploadFile(there, 'image/png', dot, 'image')
  assert.equal((await call(origin, `GET /v1/media/${id}?w=320`, { token: owner })).status, 200)
  await sendFile(there, 'image/png', dot, 'image')
  const kept = await uploadFile(place, 'image/png', dot, 'image')
  await until(async () => (await storedFiles()).length === 4, 8_000, 'the original and its variant, an upload, and the other one')
  await askGood(origin, `DELETE /v1/collections/${collection}`, { key, token: owner })
  await killAndRestart()
  await until(async () => (await storedFiles()).length === 1, 20_000, 'all of the deleted collection is gone')
  assert.equal((await call(origin, `GET /v1/media/${kept.id}`, { token })).status, 200)
})

test('a process killed while it checks an upload leaves it to be checked again', async () => {
  const { origin, collection, key, token } = place
  const large = await sharp({ create: { width: 6_000, height: 6_000, channels: 3, background: '#a43' } })
    .png({ compressionLevel: 1 })
    .toBuffer()
  const { id } = await sendFile(place, 'image/png', large, 'image')
  const ready = () => call(origin, `POST /v1/collections/${collection}/artifacts/${id}/ready`, { key, token })
  const broken = ready().catch((error: unknown) => error)
  await until(async () => childPids(atrium.pid, 'picture-process.ts').length > 0, 10_000, 'a process opens the picture')
  const [child] = childPids(atrium.pid, 'picture-process.ts')
  await killAndRestart()
  assert.ok((await broken) instanceof NoAnswer, 'it was in the middle')
  await until(async () => !isAlive(child!), 5_000, 'what opened the picture went with it')
  await until(async () => (await ready()).status === 200, 60_000, 'the next call makes it ready')
  assert.deepEqual((await storedFiles()).toSorted(), ['original', 'original'], 'what was uploaded is gone')
  const { data } = await askGood(origin, `GET /v1/collections/${collection}/artifacts/${id}`, { key, token })
  assert.equal(data.status, 'ready')
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
