import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { call, makeCollection, makeTenant } from '../support/call-api.ts'
import { testFileSize } from '../support/file-size.ts'
import { peakBytes } from '../support/process-memory.ts'
import { announce, type Upload, type UploadPlace } from '../support/upload-file.ts'

const mebibyte = 1024 * 1024
const concurrency = 50
/** The largest that there may be. */
const { bytes: fileBytes, note } = await testFileSize(concurrency, 100)
const memoryLimitBytes = 300 * mebibyte

const agent = new Agent({ keepAlive: false })
/** Sends the same chunk repeatedly, so that the test does not hold a file either. */
const pattern = randomBytes(256 * 1024)

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

function box(type: string, content: Buffer, bytes = content.length): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + bytes, 0)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, content])
}

/** The start of a video. Nothing here decodes its pictures. */
function videoHead(): Buffer {
  const track = Buffer.alloc(84)
  track.writeUInt32BE(640 * 65_536, 76)
  track.writeUInt32BE(480 * 65_536, 80)
  const start = Buffer.concat([
    box('ftyp', Buffer.from('isom\0\0\0\0isommp42', 'latin1')),
    box('moov', box('trak', box('tkhd', track))),
  ])
  return Buffer.concat([start, box('mdat', Buffer.alloc(0), fileBytes - start.length - 8)])
}

function upload({ url, headers }: Upload['upload']): Promise<number> {
  return new Promise((resolve, reject) => {
    const req = request(url, { method: 'PUT', headers, agent }, (res) => resolve(res.resume().statusCode!))
    req.once('error', reject)
    const send = async () => {
      const head = videoHead()
      req.write(head)
      for (let left = fileBytes - head.length; left > 0 && !req.destroyed; left -= pattern.length)
        if (!req.write(pattern.subarray(0, left))) await new Promise((written) => req.once('drain', written))
      req.end()
    }
    send().catch(reject)
  })
}

/** Repeats a request after its Retry-After. */
async function markReady(id: string): Promise<number> {
  const { origin, collection, key, token } = place
  for (;;) {
    const route = `POST /v1/collections/${collection}/artifacts/${id}/ready`
    const { status, headers } = await call(origin, route, { key, token, timeoutMs: 120_000 })
    if (status !== 503) return status
    await delay(1_000 * Number(headers['retry-after']))
  }
}

function download(id: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-collection-token': place.token }
    request(`${place.origin}/v1/media/${id}`, { agent, headers }, (res) => {
      let bytes = 0
      res.on('data', (part: Buffer) => (bytes += part.length))
      res.once('end', () => resolve(bytes)).once('error', reject)
    })
      .once('error', reject)
      .end()
  })
}

test(
  `50 uploads of ${fileBytes / mebibyte} MiB at once, their checks and 50 downloads stay under 300 MiB of memory`,
  { skip: process.platform !== 'linux', timeout: 1_800_000 },
  async (t) => {
    if (note) t.diagnostic(note)
    const peaks = [await peakBytes(atrium.pid)]
    const announced = await Promise.all(
      Array.from({ length: concurrency }, () => announce(place, { mime: 'video/mp4', bytes: fileBytes })),
    )
    const alike = async (results: Promise<number>[], expected: number) => {
      assert.deepEqual([...new Set(await Promise.all(results))], [expected])
      peaks.push(await peakBytes(atrium.pid))
    }
    await alike(
      announced.map((one) => upload(one.upload)),
      200,
    )
    await alike(
      announced.map(({ id }) => markReady(id)),
      200,
    )
    await alike(
      announced.map(({ id }) => download(id)),
      fileBytes,
    )
    const inMebibytes = peaks.map((bytes) => Math.round(bytes / mebibyte)).join(', ')
    t.diagnostic(`peak memory before, after uploads, checks, downloads: ${inMebibytes} MiB`)
    assert.ok(peaks.at(-1)! < memoryLimitBytes, inMebibytes)
  },
)
