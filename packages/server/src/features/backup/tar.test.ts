import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { readTar, tarEnd, tarHeader, tarPadding } from './tar.ts'

const at = new Date('2026-11-20T09:30:00Z')
const long = `blobs/${'a'.repeat(90)}/${'b'.repeat(90)}`
const files = new Map([
  ['empty', Buffer.alloc(0)],
  ['block', Buffer.alloc(512, 1)],
  [long, Buffer.alloc(100_000, 2)],
])
const archive = Buffer.concat([
  ...[...files].flatMap(([name, data]) => [tarHeader(name, data.length, at), data, tarPadding(data.length)]),
  tarEnd,
])

async function read(bytes: Buffer, pieceBytes: number): Promise<Map<string, Buffer>> {
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, i) =>
    bytes.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  )
  const found = new Map<string, Buffer>()
  for await (const { name, body } of readTar(Readable.from(pieces))) {
    const parts: Buffer[] = []
    for await (const part of body) parts.push(part)
    found.set(name, Buffer.concat(parts))
  }
  return found
}

test('tar reads what was written', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-tar-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'archive.tar'), archive)
  execFileSync('tar', ['-xf', 'archive.tar'], { cwd: folder })
  for (const [name, data] of files) assert.deepEqual(await readFile(join(folder, name)), data)
})

for (const pieceBytes of [1_000_000, 513, 7]) {
  test(`an archive is read in pieces of ${pieceBytes} bytes`, async () => {
    assert.deepEqual(await read(archive, pieceBytes), files)
  })
}

test('files that nobody reads are skipped', async () => {
  const names: string[] = []
  for await (const { name } of readTar(Readable.from([archive]))) names.push(name)
  assert.deepEqual(names, [...files.keys()])
})

test('what was cut, changed or is no archive is refused', async () => {
  await assert.rejects(read(archive.subarray(0, 90_000), 1_000), /ends too early/)
  await assert.rejects(read(archive.subarray(0, -1_024), 1_000), /ends too early/)
  const changed = Buffer.from(archive)
  changed[0]! ^= 1
  await assert.rejects(read(changed, 1_000), /not a tar archive/)
  await assert.rejects(read(Buffer.from('hello'.repeat(200)), 1_000), /not a tar archive/)
})

test('a file above 8 GiB has its size in the header', async () => {
  const bytes = 9 * 1024 ** 3
  const [entry] = [await readTar(Readable.from([tarHeader('large', bytes, at)])).next()]
  assert.deepEqual([entry.value?.name, entry.value?.bytes], ['large', bytes])
})
