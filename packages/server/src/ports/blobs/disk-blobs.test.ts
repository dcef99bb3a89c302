import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import fs, {
  chmod,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readlink,
  rm,
  stat,
  statfs,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, test, type TestContext } from 'node:test'
import { mountDisk, whyNoDisk } from '../../../../../tests/support/small-disk.ts'
import { releaseChunk } from '#http/release-chunk.ts'
import { startTestApi } from '#testing/test-api.ts'
import { describeBlobs } from '#testing/blobs/blob-suite.ts'
import { DiskBlobs } from './disk-blobs.ts'
import type { BlobError } from './blobs.ts'
import { deriveBlobUrlKey, type UploadGrant } from './disk/blob-url.ts'
import { GrowingFiles, type GrowingFile } from './disk/growing-files.ts'
import { bytesOf, contentOf, mebibyte, repeated } from '#testing/blobs/blob-bytes.ts'

const urlKeys = [deriveBlobUrlKey(Buffer.alloc(32, 9))]

describeBlobs('blobs on disk', async () => {
  const api = await startTestApi()
  const { publicUrl, dataDir } = api.ctx.config
  return {
    blobs: api.ctx.blobs,
    stranger: new DiskBlobs({ folder: join(dataDir, 'blobs'), publicUrl, urlKeys }),
    reach: (url) => url.replace(publicUrl, api.origin),
    checksHashes: true,
    close: () => api.close(),
  }
})

describe('the folder of blobs on disk', () => {
  async function open(t: TestContext) {
    const folder = await mkdtemp(join(tmpdir(), 'atrium-blob-folder-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const root = join(folder, 'blobs')
    return { root, blobs: new DiskBlobs({ folder: root, publicUrl: 'http://localhost:8787', urlKeys }) }
  }
  const growing = (root: string) => readdir(join(root, '.growing'))

  test('only its owner may look into it', async (t) => {
    const { root, blobs } = await open(t)
    await blobs.write('ten_a/col_a/original', bytesOf(10))
    for (const [path, mode] of [
      ['', 0o700],
      ['.growing', 0o700],
      ['ten_a', 0o700],
      ['ten_a/col_a', 0o700],
      ['ten_a/col_a/original', 0o600],
    ] as const) {
      assert.equal((await stat(join(root, path))).mode & 0o777, mode, path)
    }
  })

  test('a write that fails leaves no half file', async (t) => {
    const { root, blobs } = await open(t)
    const { stream } = repeated(bytesOf(1_000), 10)
    await assert.rejects(blobs.write('a/b', { stream, bytes: 10_001 }), { code: 'mismatch' })
    assert.deepEqual(await growing(root), [])
    assert.deepEqual(await readdir(root), ['.growing'])
  })

  test('of many writes at once to what is written once, one is there', async (t) => {
    const { root, blobs } = await open(t)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, seed) => blobs.write('a/b', bytesOf(1_000, seed), { once: true })),
    )
    const done = outcomes.findIndex(({ status }) => status === 'fulfilled')
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.deepEqual(await contentOf(await blobs.read('a/b')), bytesOf(1_000, done))
    assert.deepEqual(await growing(root), [])
  })

  test('what is deleted leaves no empty folders', async (t) => {
    const { root, blobs } = await open(t)
    for (const key of ['ten_a/col_a/original', 'ten_a/col_b/original', 'uploads/a']) await blobs.write(key, bytesOf(10))
    await blobs.delete(['ten_a/col_a/original'])
    assert.deepEqual(await readdir(join(root, 'ten_a')), ['col_b'])
    await blobs.deletePrefix('ten_a/col_b/')
    await blobs.promote('uploads/a', 'b')
    await blobs.delete(['uploads/a'])
    assert.deepEqual((await readdir(root)).sort(), ['.growing', 'b'])
  })

  test('on a file system without hard links, what was promoted is a copy, and the upload stays', async (t) => {
    const { root, blobs } = await open(t)
    const refused = t.mock.method(fs, 'link', () => Promise.reject(Object.assign(new Error('refused'), { code: 'EPERM' })))
    syncBuiltinESMExports()
    t.after(() => {
      refused.mock.restore()
      syncBuiltinESMExports()
    })
    const bytes = bytesOf(1_000_000)
    await blobs.write('uploads/a', bytes)
    const promoted = await blobs.promote('uploads/a', 'a/original')
    assert.ok(refused.mock.callCount() > 0)
    assert.deepEqual(await contentOf(await blobs.read('uploads/a')), bytes)
    await blobs.write('uploads/a', bytesOf(1_000_000, 2))
    assert.deepEqual(await blobs.promote('uploads/a', 'a/original'), promoted, 'the first one is kept')
    await blobs.delete(['uploads/a'])
    assert.deepEqual(await contentOf(await blobs.read('a/original')), bytes)
    await assert.rejects(blobs.promote('uploads/a', 'b/original'), { code: 'not_found' })
    assert.deepEqual(await growing(root), [])
  })

  test('a reader keeps what it began to read, whatever happens to the name', async (t) => {
    const { blobs } = await open(t)
    const bytes = bytesOf(2_000_000)
    await blobs.write('a/b', bytes)
    const before = await blobs.read('a/b')
    await blobs.write('a/b', bytesOf(100, 2))
    await blobs.deletePrefix('a/')
    assert.deepEqual(await contentOf(before), bytes)
  })

  test('files that are read at the same time into recycled memory keep their bytes', async (t) => {
    const { blobs } = await open(t)
    const files = [1, 2, 3, 4].map((seed) => ({ key: `a/${seed}`, bytes: bytesOf(3_000_001, seed) }))
    for (const { key, bytes } of files) await blobs.write(key, bytes)
    // Twice, so that the second time reads into memory of the first.
    for (const round of [1, 2])
      await Promise.all(
        files.map(async ({ key, bytes }) => {
          let read = 0
          for await (const chunk of (await blobs.read(key)).stream as AsyncIterable<Buffer>) {
            const copy = Buffer.from(chunk)
            await new Promise(setImmediate)
            assert.ok(copy.equals(chunk) && copy.equals(bytes.subarray(read, read + chunk.length)), `${key}, round ${round}`)
            read += chunk.length
            releaseChunk(chunk)
          }
          assert.equal(read, bytes.length)
        }),
      )
  })

  test('a chunk that is not released is not read into again', async (t) => {
    const { blobs } = await open(t)
    await blobs.write('a/b', bytesOf(2_000_000))
    await blobs.write('a/c', bytesOf(2_000_000, 2))
    const kept = (await (await blobs.read('a/b')).stream.toArray()) as Buffer[]
    for await (const chunk of (await blobs.read('a/c')).stream as AsyncIterable<Buffer>) releaseChunk(chunk)
    assert.ok(Buffer.concat(kept).equals(bytesOf(2_000_000)))
  })

  test('a reader that leaves closes the file', { skip: process.platform !== 'linux' }, async (t) => {
    const { root, blobs } = await open(t)
    await blobs.write('a/b', bytesOf(2_000_000))
    const isOpen = async () => {
      const links = await Promise.all(
        (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
      )
      return links.includes(join(root, 'a/b'))
    }
    const { stream } = await blobs.read('a/b')
    stream.read()
    assert.ok(await isOpen())
    stream.destroy()
    await once(stream, 'close')
    assert.ok(!(await isOpen()))
  })

  test('every write gives another tag', async (t) => {
    const { blobs } = await open(t)
    const tags = new Set<string>()
    for (let i = 0; i < 20; i++) tags.add((await blobs.write('a/b', bytesOf(10))).etag)
    assert.equal(tags.size, 20)
  })

  test('what a killed process left half-written is swept, what still grows is not', async (t) => {
    const { root, blobs } = await open(t)
    assert.equal(await blobs.sweep(), 0)
    await mkdir(join(root, '.growing'), { recursive: true })
    for (const name of ['old', 'new']) await writeFile(join(root, '.growing', name), 'half')
    const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1_000)
    await utimes(join(root, '.growing', 'old'), longAgo, longAgo)
    assert.equal(await blobs.sweep(), 1)
    assert.deepEqual(await growing(root), ['new'])
  })

  test('what a process with a clock ahead left half-written is swept an hour after it was seen', async (t) => {
    const { root, blobs } = await open(t)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    await mkdir(join(root, '.growing'), { recursive: true })
    const touch = (name: string, date: Date) => utimes(join(root, '.growing', name), date, date)
    const daysAhead = (days: number) => new Date(Date.now() + days * 24 * 60 * 60 * 1_000)
    for (const name of ['left', 'grows']) await writeFile(join(root, '.growing', name), 'half')
    for (const name of ['left', 'grows']) await touch(name, daysAhead(1))
    assert.equal(await blobs.sweep(), 0)
    t.mock.timers.tick(30 * 60_000)
    await touch('grows', daysAhead(2))
    assert.equal(await blobs.sweep(), 0)
    t.mock.timers.tick(30 * 60_000)
    assert.equal(await blobs.sweep(), 1)
    assert.deepEqual(await growing(root), ['grows'])
  })

  /** Begins an upload that sends nothing until `leave` is called. */
  async function stuck(blobs: DiskBlobs, key: string) {
    const [begun, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    async function* chunks() {
      begun.resolve()
      await left.promise
      yield bytesOf(1_000, 1)
    }
    const received = blobs.receive({ key, bytes: 1_000 } as UploadGrant, chunks())
    const ended = received.then(
      () => 'stored',
      (error: BlobError) => error.code,
    )
    await begun.promise
    return { ended, leave: left.resolve }
  }

  for (const [ahead, aheadMs] of [
    ['5 s', 5_000],
    ['1 h', 60 * 60_000],
  ] as const)
    test(`an upload ends an earlier one of a process with a clock that is ${ahead} ahead`, async (t) => {
      const { root, blobs } = await open(t)
      const nowMs = Date.now()
      t.mock.timers.enable({ apis: ['Date'], now: nowMs + aheadMs })
      const first = await stuck(blobs, 'uploads/ten_a/same')
      t.mock.timers.setTime(nowMs)
      const other = new DiskBlobs({ folder: root, publicUrl: 'http://localhost:8787', urlKeys })
      await other.receive({ key: 'uploads/ten_a/same', bytes: 1_000 } as UploadGrant, Readable.from([bytesOf(1_000, 2)]))
      first.leave()
      assert.equal(await first.ended, 'superseded')
      assert.deepEqual(await contentOf(await blobs.read('uploads/ten_a/same')), bytesOf(1_000, 2))
      assert.deepEqual(await growing(root), [])
    })

  test('an upload that has been ended does not end its successor', async (t) => {
    const { root } = await open(t)
    await mkdir(join(root, '.growing'), { recursive: true })
    const files = new GrowingFiles(join(root, '.growing'), 0)
    const begin = async () => {
      const growing = files.forUpload('uploads/ten_a/same')
      const file = await openFile(join(files.folder, growing.name), 'wx')
      t.after(() => file.close())
      return { file, reserve: () => files.reserve(growing, file, 1_000) }
    }
    const nowMs = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: nowMs + 5_000 })
    const first = await begin()
    t.mock.timers.setTime(nowMs)
    const second = await begin()
    await second.reserve()
    await assert.rejects(first.reserve(), { code: 'superseded' })
    assert.equal((await second.file.stat()).nlink, 1)
  })

  test('of two uploads that begin at the same time, the later one stays, whichever takes its room first', async (t) => {
    const { root } = await open(t)
    await mkdir(join(root, '.growing'), { recursive: true })
    const files = new GrowingFiles(join(root, '.growing'), 0)
    const [earlier, later] = [files.forUpload('uploads/ten_a/same'), files.forUpload('uploads/ten_a/same')]
    const reserve = async (growing: GrowingFile) => {
      const file = await openFile(join(files.folder, growing.name), 'wx')
      t.after(() => file.close())
      await files.reserve(growing, file, 1_000)
    }
    await reserve(later)
    await assert.rejects(reserve(earlier), { code: 'superseded' })
    assert.ok((await growing(root)).includes(later.name))
  })

  test('an upload ends neither a file of the platform nor one of a process of the previous release', async (t) => {
    const { root, blobs } = await open(t)
    const [begun, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    async function* chunks() {
      begun.resolve()
      await left.promise
      yield bytesOf(1_000, 3)
    }
    const written = blobs.write('uploads/ten_a/same', { stream: Readable.from(chunks()), bytes: 1_000 })
    await begun.promise
    const [platform = ''] = await growing(root)
    const previous = `${platform.split('.')[0]}.${Date.now()}.${randomUUID()}`
    await writeFile(join(root, '.growing', previous), 'half')
    const { ended, leave } = await stuck(blobs, 'uploads/ten_a/same')
    leave()
    assert.equal(await ended, 'stored')
    left.resolve()
    await written
    assert.deepEqual(await contentOf(await blobs.read('uploads/ten_a/same')), bytesOf(1_000, 3))
    assert.deepEqual(await growing(root), [previous])
  })

  test('what is no file of ours is neither read nor listed', async (t) => {
    const { root, blobs } = await open(t)
    await blobs.write('a/b', bytesOf(10))
    await writeFile(join(root, '.DS_Store'), 'x')
    await assert.rejects(blobs.read('a'), { code: 'not_found' })
    assert.equal(await blobs.stat('a'), undefined)
    await assert.rejects(blobs.read('a/b/c'), { code: 'not_found' })
    assert.deepEqual(
      (await blobs.list('')).blobs.map((blob) => blob.key),
      ['a/b'],
    )
  })

  test(
    'a folder that cannot be written is unavailable',
    { skip: process.getuid?.() === 0 && 'root may write anywhere' },
    async (t) => {
      const { root, blobs } = await open(t)
      await mkdir(root)
      await chmod(root, 0o500)
      await assert.rejects(blobs.write('a/b', bytesOf(10)), { code: 'unavailable' })
    },
  )
})

test(
  'on a full disk a write is unavailable and leaves no half file, what is there is read, and room makes it work again',
  { skip: whyNoDisk() },
  async (t) => {
    const disk = mountDisk(t, 4)
    const root = join(disk.folder, 'blobs')
    const blobs = new DiskBlobs({ folder: root, publicUrl: 'http://localhost:8787', urlKeys, minFreeBytes: 0 })
    await blobs.write('a/first', bytesOf(100_000))
    disk.fill()
    const full = await Promise.allSettled([
      blobs.write('a/whole', bytesOf(50_000)),
      blobs.write('b/streamed', { stream: repeated(bytesOf(1_000), 100).stream, bytes: 100_000 }),
      blobs.receive({ key: 'c/uploaded', bytes: 50_000 } as UploadGrant, [bytesOf(50_000)] as unknown as AsyncIterable<Buffer>),
    ])
    for (const outcome of full) assert.equal(outcome.status === 'rejected' && (outcome.reason as BlobError).code, 'unavailable')
    assert.deepEqual(await readdir(join(root, '.growing')), [])
    assert.equal(await blobs.stat('a/whole'), undefined)
    assert.equal((await contentOf(await blobs.read('a/first'))).length, 100_000)
    disk.clear()
    await blobs.write('a/whole', bytesOf(50_000))
  },
)

test(
  'a file for which there is no room beside what the database needs is refused before it is written',
  { skip: whyNoDisk() },
  async (t) => {
    const disk = mountDisk(t, 8)
    const minFreeBytes = 4 * 1024 * 1024
    const blobs = new DiskBlobs({ folder: join(disk.folder, 'blobs'), publicUrl: 'http://localhost:8787', urlKeys, minFreeBytes })
    await blobs.write('a/small', bytesOf(1024 * 1024))
    await assert.rejects(blobs.write('a/large', bytesOf(4 * 1024 * 1024)), { code: 'unavailable' })
    await blobs.write('a/next', bytesOf(1024 * 1024))
  },
)

for (const processes of [1, 2])
  test(
    `of files that begin at the same time, as many are stored as leave the room of the database free: ${processes} processes`,
    { skip: whyNoDisk() },
    async (t) => {
      const disk = mountDisk(t, 17)
      const [minFreeBytes, bytes] = [4 * 1024 * 1024, 3 * 1024 * 1024]
      const folder = join(disk.folder, 'blobs')
      const openBlobs = () => new DiskBlobs({ folder, publicUrl: 'http://localhost:8787', urlKeys, minFreeBytes })
      const all = Array.from({ length: processes }, openBlobs)
      let least = Infinity
      async function* upload() {
        for (let i = 0; i < 48; i++) {
          yield bytesOf(bytes / 48)
          const { bavail, bsize } = await statfs(disk.folder)
          least = Math.min(least, bavail * bsize)
        }
      }
      const grants = Array.from({ length: 8 }, (_, n) => ({ key: `uploads/${n}`, bytes }) as UploadGrant)
      const outcomes = await Promise.allSettled(grants.map((grant, n) => all[n % processes]!.receive(grant, upload())))
      const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [(one.reason as BlobError).code] : []))
      assert.deepEqual(new Set(refused), new Set(['unavailable']))
      // Two processes may refuse each other the last room.
      assert.ok(refused.length === 4 || (processes === 2 && refused.length < 8), `${refused.length} were refused`)
      assert.ok(least >= minFreeBytes, `${least} bytes were free`)
      assert.deepEqual(await readdir(join(folder, '.growing')), [])
    },
  )

test('a file that a killed process has not finished keeps no room free', { skip: whyNoDisk() }, async (t) => {
  const disk = mountDisk(t, 16)
  const folder = join(disk.folder, 'blobs')
  const blobs = new DiskBlobs({ folder, publicUrl: 'http://localhost:8787', urlKeys, minFreeBytes: 0 })
  await mkdir(join(folder, '.growing'), { recursive: true })
  const left = join(folder, '.growing', `left.${Date.now()}.a`)
  await writeFile(left, '')
  await truncate(left, 12 * 1024 * 1024)
  await assert.rejects(blobs.write('a/b', bytesOf(8 * 1024 * 1024)), { code: 'unavailable' })
  const before = new Date(Date.now() - 10 * 60_000)
  await utimes(left, before, before)
  await blobs.write('a/b', bytesOf(8 * 1024 * 1024))
})

/** A file system of so many MiB, on which uploads begin, send some bytes, and then wait until `over` is called. */
function openShared(t: TestContext, megabytes: number) {
  const disk = mountDisk(t, megabytes)
  const folder = join(disk.folder, 'blobs')
  const openBlobs = () => new DiskBlobs({ folder, publicUrl: 'http://localhost:8787', urlKeys, minFreeBytes: 0 })
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const held = Promise.withResolvers<void>()
  const blobs = openBlobs()
  const grantOf = (key: string, bytes: number) => ({ key: `uploads/${key}`, bytes }) as UploadGrant
  /** Resolves once the bytes are written, with how the upload will end. */
  const begin = (key: string, bytes: number, sent = 4096, by = blobs) =>
    new Promise<{ ended: Promise<unknown>; leave: () => void }>((resolve, reject) => {
      const left = Promise.withResolvers<void>()
      async function* upload() {
        for (let rest = sent; rest > 0; rest -= 65_536) yield bytesOf(Math.min(rest, 65_536))
        resolve({ ended, leave: left.resolve })
        await Promise.race([held.promise, left.promise])
        for (let rest = bytes - sent; rest > 0; rest -= 65_536) yield bytesOf(Math.min(rest, 65_536))
      }
      const received = by.receive(grantOf(key, bytes), upload())
      received.catch(reject)
      const ended = received.then(
        () => 'stored',
        (error: BlobError) => error.code,
      )
    })
  const broken = (key: string, bytes: number) =>
    blobs.receive(grantOf(key, bytes), Readable.from([]) as AsyncIterable<Buffer>).catch(() => undefined)
  return { blobs, openBlobs, begin, broken, over: held.resolve, tick: (ms: number) => t.mock.timers.tick(ms) }
}

for (const processes of [1, 2])
  test(
    `an upload ends an earlier one to the same address, which takes no room from others: ${processes} processes`,
    { skip: whyNoDisk() },
    async (t) => {
      const { blobs, openBlobs, begin, over } = openShared(t, 16)
      const reserved = await begin('other', 9 * mebibyte)
      const all = Array.from({ length: processes }, (_, n) => (n === 0 ? blobs : openBlobs()))
      const same = []
      for (let n = 0; n < 4; n++) same.push(await begin('same', 5 * mebibyte, 4096, all[n % processes]))
      same.forEach(({ leave }) => leave())
      assert.equal(await same.at(-1)!.ended, 'stored')
      over()
      assert.equal(await reserved.ended, 'stored')
      assert.deepEqual(await Promise.all(same.map((one) => one.ended)), ['superseded', 'superseded', 'superseded', 'stored'])
      assert.equal((await blobs.stat('uploads/same'))?.bytes, 5 * mebibyte)
    },
  )

test('uploads that send nearly nothing keep no room for their rest', { skip: whyNoDisk() }, async (t) => {
  const { blobs, begin, over, tick } = openShared(t, 16)
  for (const key of ['1', '2', '3']) await begin(key, 4 * mebibyte)
  tick(15_000)
  await blobs.write('a/b', bytesOf(10 * mebibyte))
  over()
})

test('an upload that became too slow takes no room that is kept for others', { skip: whyNoDisk() }, async (t) => {
  const { begin, over, tick } = openShared(t, 16)
  const slow = await begin('slow', 8 * mebibyte)
  tick(15_000)
  const reserved = await begin('other', 12 * mebibyte)
  slow.leave()
  assert.equal(await slow.ended, 'unavailable')
  over()
  assert.equal(await reserved.ended, 'stored')
})

test('an upload that is begun again keeps no more room than if it had never stopped', { skip: whyNoDisk() }, async (t) => {
  const { blobs, begin, broken, over, tick } = openShared(t, 16)
  await broken('again', 12 * mebibyte)
  tick(15_000)
  await begin('again', 12 * mebibyte)
  await blobs.write('a/b', bytesOf(10 * mebibyte))
  over()
})

test('the uploads of one tenant leave room for those of another', { skip: whyNoDisk() }, async (t) => {
  const { begin, over } = openShared(t, 32)
  const ended: Promise<unknown>[] = []
  const hoard = async (tenant: string) => {
    for (let n = 0; n < 20; n++) {
      const begun = await begin(`${tenant}/${n}`, 2 * mebibyte).catch(({ code }: BlobError) => {
        assert.equal(code, 'unavailable')
      })
      if (!begun) return n
      ended.push(begun.ended)
    }
    throw new Error('nothing was refused')
  }
  assert.equal(await hoard('greedy'), 8)
  assert.equal(await hoard('other'), 4)
  assert.equal(await hoard('third'), 2)
  over()
  assert.deepEqual(new Set(await Promise.all(ended)), new Set(['stored']))
})
