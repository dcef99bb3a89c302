import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { SignedUpload } from '../../packages/server/src/ports/blobs/blobs.ts'
import { DiskBlobs } from '../../packages/server/src/ports/blobs/disk-blobs.ts'
import { deriveBlobUrlKey } from '../../packages/server/src/ports/blobs/disk/blob-url.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { testFileSize } from '../support/file-size.ts'
import { peakBytes } from '../support/process-memory.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'

const mebibyte = 1024 * 1024
const mime = 'video/mp4'
const concurrency = 50
/** Together much more than the allowed memory. media-memory.test.ts has the largest file. */
const { bytes: uploadBytes } = await testFileSize(concurrency, 20)
const memoryLimitBytes = 300 * mebibyte
/** Longer than any other request may take. */
const slowMs = 33_000

const agent = new Agent({ keepAlive: false })
const chunk = Buffer.alloc(64 * 1024, 7)

let database: TestDatabase
let atrium: AtriumProcess
/** Signs like the process, with the same master key. */
let signer: DiskBlobs
before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url })
  const urlKey = deriveBlobUrlKey(Buffer.alloc(32, 7))
  signer = new DiskBlobs({ folder: '/nowhere', publicUrl: atrium.origin, urlKeys: [urlKey] })
})
after(async () => {
  await atrium?.end('SIGKILL')
  await database?.drop()
})

function presign(key: string, bytes: number): Promise<SignedUpload> {
  return signer.presignUpload({ key, mime, bytes, expiresInSeconds: 300 })
}

/** Sends that many chunks, waits while the connection is full, and `intervalMs` after each. Returns the status. */
function upload({ url, headers }: SignedUpload, chunks: number, part = chunk, intervalMs = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const req = request(url, { method: 'PUT', headers, agent }, (res) => resolve(res.resume().statusCode!))
    req.once('error', reject)
    const send = async () => {
      for (let i = 0; i < chunks && !req.destroyed; i++) {
        if (!req.write(part)) await new Promise((written) => req.once('drain', written))
        if (intervalMs > 0) await delay(intervalMs)
      }
      req.end()
    }
    send().catch(reject)
  })
}

describe('files go in', { concurrency: true }, () => {
  test('50 uploads at once stay under 300 MiB of memory', { skip: process.platform !== 'linux' }, async (t) => {
    const names = Array.from({ length: concurrency }, (_, i) => `uploads/large-${i}`)
    const before = await peakBytes(atrium.pid)
    const statuses = await Promise.all(
      names.map(async (key) => upload(await presign(key, uploadBytes), uploadBytes / chunk.length)),
    )
    assert.deepEqual([...new Set(statuses)], [200])
    const afterUploads = await peakBytes(atrium.pid)
    const inMebibytes = [before, afterUploads].map((bytes) => Math.round(bytes / mebibyte))
    t.diagnostic(`peak memory before, after uploads: ${inMebibytes.join(', ')} MiB`)
    assert.ok(afterUploads < memoryLimitBytes, inMebibytes.join(', '))
  })

  test('an upload over a slow line may take longer than other requests', async () => {
    const parts = 33
    const status = await upload(await presign('uploads/slow', parts), parts, Buffer.from('x'), slowMs / parts)
    assert.equal(status, 200)
  })
})
