import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { skipWithout } from '../../../tests/support/skip-without.ts'
import { type ArchiveFile, makeArchive } from './archive.ts'

const files: ArchiveFile[] = [
  { path: 'b.txt', body: Buffer.from('bee') },
  { path: 'a/run.sh', body: Buffer.from('echo'), isExecutable: true },
  { path: 'a/large.bin', body: Buffer.alloc(200_000, 7) },
  { path: 'a/empty', body: Buffer.alloc(0) },
  { path: 'B.txt', body: Buffer.alloc(512, 1) },
]

const skip = skipWithout('tar', 'gzip')

const tar = (args: string[]) =>
  execFileSync('tar', args, { input: makeArchive(files), env: { PATH: process.env['PATH'], TZ: 'UTC' } })

test('tar lists it sorted, without owners and times, with two modes', { skip }, () => {
  const lines = tar(['-tvzf', '-', '--numeric-owner']).toString().trim().split('\n')
  const rows = lines.map((line) => line.replace(/\s+/g, ' '))
  assert.deepEqual(rows, [
    '-rw-r--r-- 0/0 512 1970-01-01 00:00 B.txt',
    '-rw-r--r-- 0/0 0 1970-01-01 00:00 a/empty',
    '-rw-r--r-- 0/0 200000 1970-01-01 00:00 a/large.bin',
    '-rwxr-xr-x 0/0 4 1970-01-01 00:00 a/run.sh',
    '-rw-r--r-- 0/0 3 1970-01-01 00:00 b.txt',
  ])
})

test('tar gives back every byte', { skip }, () => {
  for (const { path, body } of files) assert.ok(tar(['-xzOf', '-', path]).equals(Buffer.from(body)), path)
})

test('gzip and Node read it, and the order in which files are given does not matter', { skip }, () => {
  const archive = makeArchive(files)
  assert.ok(makeArchive(files.toReversed()).equals(archive))
  const unpacked = execFileSync('gzip', ['-dc'], { input: archive, maxBuffer: 1e7 })
  assert.ok(gunzipSync(archive).equals(unpacked))
  assert.equal(unpacked.length % 512, 0)
  assert.equal(archive.subarray(0, 10).toString('hex'), '1f8b08000000000000ff', 'no time, no system in the header')
})

test('a name that would need an extension of the format is refused', () => {
  for (const path of ['', 'x'.repeat(101), 'é', 'a b', 'a\nb'])
    assert.throws(() => makeArchive([{ path, body: Buffer.alloc(0) }]))
})
