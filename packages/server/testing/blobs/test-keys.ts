import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlobWorld } from './blob-suite.ts'
import type { Blobs } from '#ports/blobs/blobs.ts'
import { contentOf } from './blob-bytes.ts'

const mime = 'image/png'
const small = Buffer.from('small')

async function keysUnder(blobs: Blobs, prefix: string, limit?: number): Promise<string[]> {
  const keys: string[] = []
  let cursor: string | undefined
  do {
    const page = await blobs.list(prefix, { cursor, ...(limit ? { limit } : {}) })
    keys.push(...page.blobs.map((blob) => blob.key))
    cursor = page.cursor
  } while (cursor)
  return keys
}

export function testKeys(world: () => BlobWorld): void {
  const badKeys = [
    '',
    '/',
    '/etc/passwd',
    '..',
    '../outside',
    'a/../b',
    'a/./b',
    'a//b',
    'a/',
    '.hidden',
    'a/.hidden',
    'a\\b',
    'a b',
    'a\0b',
    'a%2e%2e',
    'schlüssel',
    'ключ',
    'a/\u202eb',
    'x'.repeat(101),
    Array.from({ length: 9 }, () => 'x').join('/'),
  ]
  test('a key that is not plain names is refused by everything that takes one', async () => {
    const { blobs } = world()
    const refused = { code: 'invalid_key' }
    const terms = { mime, bytes: 5, expiresInSeconds: 60 }
    for (const key of badKeys) {
      await assert.rejects(blobs.write(key, small, { mime }), refused, key)
      await assert.rejects(blobs.read(key), refused, key)
      await assert.rejects(blobs.stat(key), refused, key)
      await assert.rejects(blobs.delete([key]), refused, key)
      await assert.rejects(blobs.promote(key, 'keys/to'), refused, key)
      await assert.rejects(blobs.promote('keys/from', key), refused, key)
      await assert.rejects(blobs.presignUpload({ key, ...terms }), refused, key)
      await assert.rejects(blobs.deletePrefix(`${key}/`), refused, key)
    }
    for (const prefix of ['', '/', 'no-slash', '../']) await assert.rejects(blobs.deletePrefix(prefix), refused, prefix)
  })

  test('a list gives every key once, in the order of its bytes, page by page', async () => {
    const { blobs } = world()
    const startedAt = Date.now() - 2_000
    const keys = ['a', 'a-b', 'a.b', 'ab/c', 'ab/c-d', 'ab/d/e', 'aB', 'b/1', 'b/10', 'b/2', 'c'].map((name) => `list/${name}`)
    await Promise.all(keys.map((key) => blobs.write(key, small, { mime })))
    const sorted = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    assert.deepEqual(await keysUnder(blobs, 'list/'), sorted)
    for (const limit of [1, 2, 3, 10, 11]) assert.deepEqual(await keysUnder(blobs, 'list/', limit), sorted, `pages of ${limit}`)
    assert.deepEqual(await keysUnder(blobs, 'list/b/'), ['list/b/1', 'list/b/10', 'list/b/2'])
    assert.deepEqual(await keysUnder(blobs, 'list/none/'), [])
    const { blobs: found, cursor } = await blobs.list('list/')
    assert.equal(cursor, undefined, 'the last page has none')
    for (const { bytes, modifiedAt } of found) {
      assert.equal(bytes, small.length)
      assert.ok(modifiedAt.getTime() >= startedAt && modifiedAt.getTime() <= Date.now() + 2_000, modifiedAt.toISOString())
    }
    assert.ok((await keysUnder(blobs, '', 3)).includes('list/ab/c'), 'and everything without a prefix')
  })

  test('deleting removes what is named and takes what is not there for deleted', async () => {
    const { blobs } = world()
    const keys = Array.from({ length: 1_100 }, (_, i) => `delete/${i}`)
    for (const i of [0, 1, 500, 1_099]) await blobs.write(keys[i]!, small, { mime })
    await blobs.write('delete/kept', small, { mime })
    await blobs.delete(keys)
    await blobs.delete([])
    assert.deepEqual(await keysUnder(blobs, 'delete/'), ['delete/kept'])
  })

  test('deleting a prefix removes what is under it and nothing beside it', async () => {
    const { blobs } = world()
    const beside = ['prefix/col', 'prefix/col-2/a', 'prefix/co/a']
    const under = ['prefix/coll/a/original', 'prefix/coll/a/w320.webp', 'prefix/coll/b']
    for (const key of [...beside, ...under]) await blobs.write(key, small, { mime })
    await blobs.deletePrefix('prefix/coll/')
    await blobs.deletePrefix('prefix/coll/')
    assert.deepEqual(await keysUnder(blobs, 'prefix/'), ['prefix/co/a', 'prefix/col', 'prefix/col-2/a'])
  })

  test('a prefix that is deleted while others write into it can be written again', async () => {
    const { blobs } = world()
    const rounds = Array.from({ length: 20 }, (_, i) => i)
    await Promise.all(
      rounds.flatMap((i) => [blobs.write(`busy/${i % 3}/a`, small, { mime }), blobs.deletePrefix(`busy/${i % 3}/`)]),
    )
    await blobs.write('busy/0/a', small, { mime })
    assert.deepEqual(await contentOf(await blobs.read('busy/0/a')), small)
  })
}
