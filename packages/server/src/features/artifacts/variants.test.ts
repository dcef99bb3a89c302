import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { Pictures } from '@atrium/media/pictures/pictures'
import { gradient } from '@atrium/media/testing/sample-pictures'
import { StoredWorld } from '#testing/artifacts/stored-world.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { startTestApi } from '#testing/test-api.ts'

const noProc = !(existsSync('/proc/self/fd') && existsSync('/sys/kernel')) && 'needs /proc and /sys'

test(
  'the original is sent if a smaller picture cannot be stored, and no file stays open, so that a full disk gets its space back',
  { skip: noProc },
  async (t) => {
    const api = await startTestApi()
    t.after(() => api.close())
    const world = await StoredWorld.open(api)
    const place = await world.makeCollection()
    const picture = await world.publish(place, await gradient(1_000, 600).jpeg().toBuffer(), 'image/jpeg')
    // A file system that accepts no file, as one without free space: the store refuses every write.
    const growing = join(api.ctx.config.dataDir, 'blobs', '.growing')
    await rm(growing, { recursive: true })
    await symlink('/sys', growing)
    for (let asked = 0; asked < 5; asked++) {
      const { status, headers } = await world.media(`${picture}?w=320`)
      assert.deepEqual([status, headers['content-type'], headers['cache-control']], [200, 'image/jpeg', 'private, no-store'])
    }
    // As after a sweep of the folders for temporary files: the file for the original cannot be made.
    t.mock.method(api.ctx.pictures, 'withFolder', (work: (folder: string) => unknown) => work(join(growing, 'missing')))
    for (let asked = 0; asked < 5; asked++) assert.notEqual((await world.media(`${picture}?w=320`)).status, 404)
    const open = await Promise.all((await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
    assert.deepEqual(
      open.filter((path) => /\/(variant|original)$/.test(path)),
      [],
    )
  },
)

test('the original is sent, and not cached, while the disk is full or too many smaller pictures are being made', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const world = await StoredWorld.open(api)
  const place = await world.makeCollection()
  const original = await gradient(1_000, 600).png().toBuffer()
  const picture = await world.publish(place, original, 'image/png')
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  for (const fault of [new PictureError('busy', 'Too many pictures at once.'), full]) {
    const shrink = t.mock.method(Pictures.prototype, 'shrink', () => Promise.reject(fault))
    const standIn = await world.media(`${picture}?w=320`)
    assert.equal(standIn.status, 200)
    assert.equal(standIn.headers['content-type'], 'image/png')
    assert.equal(standIn.headers['cache-control'], 'private, no-store')
    assert.deepEqual(standIn.body, (await world.media(picture)).body)
    shrink.mock.restore()
  }
  // Each request to a store that does not answer takes as long as it may.
  const fails = () => Promise.reject(new BlobError('unavailable', 'the object storage takes too long'))
  for (const step of ['stat', 'read'] as const) {
    const read = t.mock.method(api.ctx.blobs, 'read')
    const failing = t.mock.method(api.ctx.blobs, step, fails)
    assert.equal((await world.media(`${picture}?w=320`)).status, 503)
    assert.deepEqual([failing.mock.callCount(), read.mock.callCount()], [1, 0])
    failing.mock.restore()
    read.mock.restore()
  }
  const smaller = await world.media(`${picture}?w=320`)
  assert.equal(smaller.headers['content-type'], 'image/webp')
  assert.match(String(smaller.headers['cache-control']), /immutable/)
})
