import assert from 'node:assert/strict'
import { request } from 'node:http'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium } from '../support/atrium-process.ts'
import { makeCollection, makeTenant } from '../support/call-api.ts'
import { mountDisk, whyNoDisk } from '../support/small-disk.ts'
import { announce, type Upload } from '../support/upload-file.ts'

const mime = 'video/mp4'
const piece = Buffer.alloc(256 * 1024)
const pieces = 96

test(
  'of uploads that fill the disk together, each is answered; a refused one leaves nothing, and one after it is stored',
  { skip: whyNoDisk(), timeout: 120_000 },
  async (t) => {
    // 128 MiB stay free.
    const disk = mountDisk(t, 240)
    const database = await createTestDatabase()
    const atrium = await startAtrium({ databaseUrl: database.url, env: { ATRIUM_DATA_DIR: disk.folder } })
    t.after(async () => {
      await atrium.end('SIGKILL')
      await database.drop()
    })
    const { origin } = atrium
    const { publishable: key } = await makeTenant(origin)
    const { id: collection, token } = await makeCollection(origin, key)
    const place = { origin, key, collection, token }
    const send = async () => {
      const { upload } = await announce(place, { mime, bytes: pieces * piece.length })
      const { status, retryAfter } = await sendInPieces(upload)
      if (status !== 200) assert.deepEqual([status, retryAfter], [503, '30'])
      return status
    }
    const sendTogether = () => Promise.all(Array.from({ length: 12 }, send))
    // Beside those 128 MiB there is room for 4 of 24 MiB. The rest of other uploads of a tenant counts twice, so 2 are
    // admitted if all ask before any has written much.
    const stored = (await sendTogether()).filter((status) => status === 200).length
    assert.ok(stored >= 2 && stored <= 4, `${stored} of 12 were stored`)
    assert.deepEqual(await readdir(join(disk.folder, 'blobs', '.growing')), [])
    disk.fill()
    const metrics = await (await fetch(`${origin}/metrics`)).text()
    const bytesOf = (name: string) => Number(new RegExp(`^atrium_blob_disk_${name}_bytes\\S* (\\d+)$`, 'm').exec(metrics)?.[1])
    assert.equal(bytesOf('size'), 240 * 2 ** 20)
    assert.ok(bytesOf('free') < 2 ** 20, 'the alert AtriumDiskFilling holds')
    assert.deepEqual(new Set(await sendTogether()), new Set([503]), 'it was full before')
    disk.clear()
    disk.resize(400)
    assert.equal(await send(), 200)
  },
)

/** Sends as a browser does: if it writes after the server has closed the connection, the answer is lost. */
function sendInPieces({ url, headers }: Upload['upload']): Promise<{ status: number; retryAfter: string | undefined }> {
  return new Promise((resolve, reject) => {
    const req = request(url, { method: 'PUT', headers, agent: false }, (res) => {
      res.resume().once('end', () => resolve({ status: res.statusCode!, retryAfter: res.headers['retry-after'] }))
    })
    pipeline(
      Array.from({ length: pieces }, () => piece),
      req,
    ).catch(reject)
  })
}
