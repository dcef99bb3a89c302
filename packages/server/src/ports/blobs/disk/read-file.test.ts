import assert from 'node:assert/strict'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readFile, recycleChunk } from './read-file.ts'

let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'read-file-'))
})
after(() => rm(folder, { recursive: true }))

/** Resolves to the first chunk of a file of 1,000 bytes of this value. */
async function firstChunk(value: number): Promise<Buffer> {
  const path = join(folder, `${value}`)
  await writeFile(path, Buffer.alloc(1_000, value))
  for await (const chunk of readFile(await open(path), { start: 0, end: 999 })) return chunk as Buffer
  throw new Error('the file is empty')
}

test('a chunk that was given back twice is read into by one download only', async () => {
  const chunk = await firstChunk(1)
  assert.deepEqual([recycleChunk(chunk), recycleChunk(chunk)], [true, true])
  const [second, third] = [await firstChunk(2), await firstChunk(3)]
  assert.equal(second.buffer, chunk.buffer, 'it is used again')
  assert.notEqual(third.buffer, second.buffer)
  assert.ok(second.every((byte) => byte === 2))
  // Its new reader gives it back.
  assert.ok(recycleChunk(second))
  assert.equal((await firstChunk(4)).buffer, second.buffer)
  assert.equal(recycleChunk(Buffer.alloc(1_000)), false, 'the memory of others is not taken')
})
