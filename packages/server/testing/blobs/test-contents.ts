import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { BlobWorld } from './blob-suite.ts'
import { passesOnce } from '../busy-machine.ts'
import { bytesOf, contentOf, mebibyte, peakGrowth, repeated, sha256Of } from './blob-bytes.ts'

const mime = 'image/png'

export function testContents(world: () => BlobWorld): void {
  test('what was written is read back, as a whole and in parts', async () => {
    const { blobs } = world()
    const bytes = bytesOf(300_000)
    const written = await blobs.write('contents/whole', bytes, { mime })
    assert.equal(written.bytes, bytes.length)
    assert.deepEqual(await blobs.stat('contents/whole'), written)
    const whole = await blobs.read('contents/whole')
    assert.equal(whole.contentBytes, bytes.length)
    assert.equal(whole.etag, written.etag)
    assert.deepEqual(await contentOf(whole), bytes)
    for (const [start, end] of [
      [0, 0],
      [0, 99],
      [65_535, 65_537],
      [299_999, 299_999],
      [200_000, 900_000],
    ] as const) {
      const part = await blobs.read('contents/whole', { start, end })
      const expected = bytes.subarray(start, end + 1)
      assert.deepEqual([part.bytes, part.contentBytes], [bytes.length, expected.length])
      assert.deepEqual(await contentOf(part), expected, `${start}-${end}`)
    }
  })

  test('a range past the end is refused', async () => {
    const { blobs } = world()
    await blobs.write('contents/short', Buffer.from('12345'), { mime })
    await assert.rejects(blobs.read('contents/short', { start: 5, end: 9 }), { code: 'invalid_range' })
  })

  test('what is written once is never replaced', async () => {
    const { blobs } = world()
    const first = await blobs.write('contents/once', bytesOf(1_000), { mime, once: true })
    for (const body of [bytesOf(900, 2), repeated(bytesOf(100, 3), 10)])
      await assert.rejects(blobs.write('contents/once', body, { mime, once: true }), { code: 'exists' })
    assert.deepEqual(await blobs.stat('contents/once'), first)
    assert.deepEqual(await contentOf(await blobs.read('contents/once')), bytesOf(1_000))
  })

  test('an empty blob is there', async () => {
    const { blobs } = world()
    await blobs.write('contents/empty', Buffer.alloc(0), { mime })
    assert.equal((await blobs.stat('contents/empty'))?.bytes, 0)
    assert.equal((await contentOf(await blobs.read('contents/empty'))).length, 0)
  })

  test('what is not there has no stat and cannot be read', async () => {
    const { blobs } = world()
    assert.equal(await blobs.stat('contents/nothing'), undefined)
    await assert.rejects(blobs.read('contents/nothing'), { code: 'not_found' })
    await assert.rejects(blobs.read('nobody/was/here'), { code: 'not_found' })
  })

  test('a write that fails leaves what was there, or nothing', async () => {
    const { blobs } = world()
    const old = bytesOf(70_000)
    await blobs.write('contents/kept', old, { mime })
    const broken = async function* () {
      yield bytesOf(50_000, 2)
      throw new Error('the source broke')
    }
    const failing = {
      'too short': { stream: Readable.from([bytesOf(99_999, 2)], { objectMode: false }), bytes: 100_000 },
      'too long': { stream: Readable.from([bytesOf(100_001, 2)], { objectMode: false }), bytes: 100_000 },
      broken: { stream: Readable.from(broken(), { objectMode: false }), bytes: 100_000 },
    }
    for (const [name, source] of Object.entries(failing)) {
      const expected = name === 'broken' ? { message: 'the source broke' } : { code: 'mismatch' }
      await assert.rejects(blobs.write('contents/kept', source, { mime }), expected, name)
      assert.deepEqual(await contentOf(await blobs.read('contents/kept')), old, name)
    }
    const unheard = { stream: Readable.from(broken(), { objectMode: false }), bytes: 100_000 }
    await assert.rejects(blobs.write('contents/never', unheard, { mime }))
    assert.equal(await blobs.stat('contents/never'), undefined)
  })

  test('of writes to one key at the same time, every reader sees one as a whole', async () => {
    const { blobs } = world()
    const candidates = Array.from({ length: 6 }, (_, i) => Buffer.alloc(mebibyte, i + 1))
    await blobs.write('contents/contended', candidates[0]!, { mime })
    const check = async () => {
      const seen = await contentOf(await blobs.read('contents/contended'))
      assert.ok(
        candidates.some((candidate) => candidate.equals(seen)),
        'a mixture',
      )
    }
    const writes = candidates.map((bytes) => blobs.write('contents/contended', bytes, { mime }))
    await Promise.all([...writes, ...Array.from({ length: 12 }, check)])
    await check()
  })

  test('100 MiB pass through in little memory', async () => {
    const { blobs } = world()
    const chunk = bytesOf(64 * 1024)
    const count = 1_600
    const expected = sha256Of(Buffer.concat(Array.from({ length: count }, () => chunk)))
    // On a busy machine, a process may collect its garbage late.
    await passesOnce(async () => {
      const grown = await peakGrowth(async () => {
        await blobs.write('contents/large', repeated(chunk, count), { mime })
        const hash = createHash('sha256')
        for await (const part of (await blobs.read('contents/large')).stream) hash.update(part as Buffer)
        assert.equal(hash.digest('hex'), expected)
      })
      assert.ok(grown < 48 * mebibyte, `grew by ${Math.round(grown / mebibyte)} MiB`)
    })
    await blobs.delete(['contents/large'])
  })
}
