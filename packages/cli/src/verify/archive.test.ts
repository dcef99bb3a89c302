import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { skipWithout } from '../../../../tests/support/skip-without.ts'
import { makeArchive } from '../../../space/build/archive.ts'
import { extractArchive, readArchive } from './archive.ts'

const folder = mkdtempSync(join(tmpdir(), 'atrium-verify-archive-'))
after(() => rmSync(folder, { recursive: true }))

test('archives of the build and of GNU tar are read and extracted in the same way', { skip: skipWithout('tar') }, async () => {
  const source = join(folder, 'source')
  mkdirSync(join(source, 'deep/er'), { recursive: true })
  writeFileSync(join(source, 'a.txt'), 'a')
  writeFileSync(join(source, 'deep/er/run.sh'), 'echo')
  chmodSync(join(source, 'deep/er/run.sh'), 0o755)
  const byTar = execFileSync('tar', ['--format=ustar', '-czf', '-', '-C', source, 'a.txt', 'deep'])
  const byUs = makeArchive([
    { path: 'a.txt', body: Buffer.from('a') },
    { path: 'deep/er/run.sh', body: Buffer.from('echo'), isExecutable: true },
  ])
  for (const [i, archive] of [byTar, byUs].entries()) {
    const target = join(folder, `target-${i}`)
    mkdirSync(target)
    await extractArchive(readArchive(archive), target)
    assert.equal(readFileSync(join(target, 'a.txt'), 'utf8'), 'a')
    assert.equal(statSync(join(target, 'deep/er/run.sh')).mode & 0o100, 0o100)
    assert.deepEqual(readdirSync(target).sort(), ['a.txt', 'deep'])
  }
})

/** An archive with one file of any name and type, which the build's packer would reject. */
function archiveWith(path: string, { type = '0', link = '', prefix = '' } = {}): Buffer {
  const tar = gunzipSync(makeArchive([{ path: 'x', body: Buffer.from('x') }]))
  tar.fill(0, 0, 100)
  tar.write(path, 0, 'latin1')
  tar.write(type, 156)
  tar.write(link, 157)
  tar.write(prefix, 345)
  return gzipSync(resum(tar))
}

/** Corrects the checksum of the first header. */
function resum(tar: Buffer): Buffer {
  tar.fill(' ', 148, 156)
  const sum = tar.subarray(0, 512).reduce((a, b) => a + b, 0)
  tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return tar
}

test('the archives below are otherwise good', () =>
  assert.deepEqual([...readArchive(archiveWith('fine.ts')).keys()], ['fine.ts']))

const names = [
  '../x',
  '/etc/x',
  'a/../../x',
  'a//x',
  './x',
  'a/.',
  '..',
  'C:x',
  'a\\..\\x',
  'a\u001b[2Jb',
  'a\nb',
  'é',
  ' ',
  '.npmrc',
  'a/.npmrc',
]
for (const name of [...names, '.git/hooks/post-checkout', 'node_modules/x/index.js', 'packages/a/node_modules/x']) {
  test(`a file named ${JSON.stringify(name)} is refused`, () => {
    assert.throws(() => readArchive(archiveWith(name)), /not a name that source has/)
  })
}

test("a name that leaves the folder through the header's second field is refused", () => {
  assert.throws(() => readArchive(archiveWith('x', { prefix: '../..' })), /not a name that source has/)
})

for (const [what, type] of Object.entries({
  'hard link': '1',
  'symbolic link': '2',
  device: '3',
  fifo: '6',
  'pax header': 'x',
  'long name': 'L',
})) {
  test(`a ${what} is refused`, () => {
    assert.throws(() => readArchive(archiveWith('x', { type, link: '/etc/passwd' })), /is not a plain file/)
  })
}

test('a real symbolic link, as tar packs it, is refused', { skip: skipWithout('tar') }, () => {
  symlinkSync('/etc/passwd', join(folder, 'link'))
  const archive = execFileSync('tar', ['--format=ustar', '-czf', '-', '-C', folder, 'link'])
  assert.throws(() => readArchive(archive), /is not a plain file/)
})

test('a duplicate name, also one that differs only in case, is rejected', () => {
  for (const path of ['x', 'X']) {
    const tar = Buffer.concat([gunzipSync(archiveWith('x')).subarray(0, 1024), gunzipSync(archiveWith(path))])
    assert.throws(() => readArchive(gzipSync(tar)), /twice/)
  }
})

test('more files than source has are refused', () => {
  const files = Array.from({ length: 5_001 }, (_, i) => ({ path: `f${i}`, body: Buffer.alloc(0) }))
  assert.equal(readArchive(makeArchive(files.slice(1))).size, 5_000)
  assert.throws(() => readArchive(makeArchive(files)), /more than 5000 files/)
})

test('a size that is negative or not octal is rejected', () => {
  for (const size of ['9', '-1', 'x', '', '\u0080\u0000\u0000\u00ff']) {
    const tar = gunzipSync(archiveWith('x'))
    tar.fill(0, 124, 136)
    tar.write(size, 124, 'latin1')
    assert.throws(() => readArchive(gzipSync(resum(tar))), /damaged/, size)
  }
})

test('a decompression bomb, a truncated archive, a wrong checksum and other data are rejected', () => {
  const good = gunzipSync(archiveWith('x'))
  const wrong = Buffer.from(good)
  wrong[0]! ^= 1
  assert.throws(() => readArchive(gzipSync(Buffer.alloc(200 * 1024 * 1024))), /unpacks to more/)
  assert.throws(() => readArchive(gzipSync(good.subarray(0, 512))), /cut off/)
  assert.throws(() => readArchive(gzipSync(wrong)), /damaged/)
  assert.throws(() => readArchive(gzipSync(Buffer.alloc(1024))), /empty/)
  assert.throws(() => readArchive(Buffer.from('hello')), /not gzip/)
  assert.throws(() => readArchive(archiveWith('x').subarray(0, 50)), /not gzip/)
})
