import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import sharp from 'sharp'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { call, makeCollection, makeTenant } from '../support/call-api.ts'
import { hostileFiles, type HostileFile } from '../support/hostile-files.ts'
import { mapConcurrently } from '../support/map-concurrently.ts'
import { uploadFile, type UploadPlace } from '../support/upload-file.ts'
import { childPids } from '../support/worker-pids.ts'

const mebibyte = 1024 * 1024
const memoryLimitBytes = 512 * mebibyte
const longestMs = 10_000

let database: TestDatabase
let atrium: AtriumProcess
let place: UploadPlace
before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({
    databaseUrl: database.url,
    role: 'api',
    env: { ATRIUM_UPLOAD_BYTES_PER_ADDRESS: String(2 ** 40) },
  })
  const { origin } = atrium
  const { publishable: key } = await makeTenant(origin)
  const { id: collection, token } = await makeCollection(origin, key)
  place = { origin, key, collection, token }
})
after(async () => {
  await atrium?.end('SIGKILL')
  await database?.drop()
})

/** The memory of the process and of its picture processes. */
async function memoryBytes(): Promise<number> {
  const pids = [atrium.pid, ...childPids(atrium.pid, 'picture-process.ts')]
  const sizes = await Promise.all(
    pids.map(async (pid) => {
      // The proportional set size, which counts shared memory once.
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
      return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Runs a function and returns the most memory that was in use. */
async function peakOf(work: () => Promise<void>): Promise<number> {
  let peak = 0
  let done = false
  const watch = async () => {
    while (!done) {
      peak = Math.max(peak, await memoryBytes())
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  const watching = watch()
  await work().finally(() => (done = true))
  await watching
  return peak
}

describe('files that are meant to harm', { skip: process.platform !== 'linux' }, () => {
  let files: HostileFile[]
  before(async () => {
    files = await hostileFiles()
  })

  async function assertRefused({ name, mime, bytes }: HostileFile, limitMs: number): Promise<void> {
    const startedAt = performance.now()
    const { status, code, text, id } = await uploadFile(place, mime, bytes)
    const tookMs = performance.now() - startedAt
    assert.deepEqual([status, code], [409, 'upload_mismatch'], `${name}: ${text.slice(0, 300)}`)
    assert.ok(tookMs < limitMs, `${name} took ${tookMs} ms`)
    const media = await call(place.origin, `GET /v1/media/${id}`, { token: place.token })
    assert.equal(media.status, 404, name)
  }

  test('each is refused within 10 s, all within 512 MiB, and the process serves on', async (t) => {
    let slowest = { name: '', ms: 0 }
    const peak = await peakOf(async () => {
      for (const file of files) {
        const startedAt = performance.now()
        await assertRefused(file, longestMs)
        const ms = performance.now() - startedAt
        if (ms > slowest.ms) slowest = { name: file.name, ms }
      }
    })
    t.diagnostic(
      `${files.length} files, the slowest ${slowest.name} in ${slowest.ms.toFixed()} ms; peak memory ${Math.round(peak / mebibyte)} MiB`,
    )
    assert.ok(peak < memoryLimitBytes, `${peak}`)
    assert.equal((await call(place.origin, 'GET /healthz', {})).status, 200)
  })

  test('so are all of them at once', async (t) => {
    const peak = await peakOf(async () => {
      await mapConcurrently(files, 16, (file) => assertRefused(file, 3 * longestMs))
    })
    t.diagnostic(`peak memory ${Math.round(peak / mebibyte)} MiB`)
    assert.ok(peak < memoryLimitBytes, `${peak}`)
  })

  test('the largest that are taken stay within the same memory, also several at once', async (t) => {
    const draw = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: '#357' } })
    const large: [string, Buffer][] = [
      ['image/jpeg', await draw(8_192, 6_144).jpeg().withMetadata({ orientation: 6 }).toBuffer()],
      ['image/jpeg', await draw(8_192, 6_144).jpeg({ progressive: true }).toBuffer()],
      ['image/png', await draw(7_100, 7_100).png({ progressive: true }).toBuffer()],
      ['image/webp', await draw(8_192, 6_144).webp({ effort: 0 }).toBuffer()],
    ]
    const peak = await peakOf(async () => {
      const answers = await Promise.all(large.map(([mime, bytes]) => uploadFile(place, mime, bytes)))
      // On a busy machine some may be told to retry, but none may be refused.
      for (const { status, text } of answers) assert.ok(status === 200 || status === 503, text)
      assert.ok(answers.some(({ status }) => status === 200))
    })
    t.diagnostic(`peak memory ${Math.round(peak / mebibyte)} MiB`)
    assert.ok(peak < memoryLimitBytes, `${peak}`)
  })
})
