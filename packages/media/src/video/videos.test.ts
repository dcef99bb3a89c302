import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clip } from '../../testing/sample-pictures.ts'
import { UploadMismatch } from './upload-mismatch.ts'
import { parseMp4 } from './parse-mp4.ts'
import { parseWebm } from './parse-webm.ts'
import { PullParser } from './pull-parser.ts'

function read(bytes: Buffer, type: 'mp4' | 'webm', chunkBytes = bytes.length) {
  const parser = new PullParser(type === 'mp4' ? parseMp4(bytes.length) : parseWebm(bytes.length))
  for (let at = 0; at < bytes.length; at += chunkBytes) parser.push(bytes.subarray(at, at + chunkBytes))
  return parser.end()
}

for (const type of ['mp4', 'webm'] as const) {
  test(`the size of a ${type} is read however it is cut into chunks`, async () => {
    const bytes = await clip(type)
    for (const chunkBytes of [1, 2, 7, 100, 10_000]) assert.deepEqual(read(bytes, type, chunkBytes), { width: 64, height: 48 })
  })

  test(`no byte of a ${type} that is changed breaks the reader`, async () => {
    const bytes = await clip(type)
    for (let at = 0; at < bytes.length; at++) {
      for (const value of [0x00, 0x01, 0x7f, 0xff]) {
        const changed = Buffer.from(bytes)
        changed[at] = value
        try {
          read(changed, type, 64)
        } catch (error) {
          assert.ok(error instanceof UploadMismatch, `${value} at ${at}: ${(error as Error).stack}`)
        }
      }
    }
  })
}

test('the width of a rotated video is its displayed width', async () => {
  const bytes = await clip('mp4')
  const box = bytes.indexOf('tkhd') - 4
  const matrixAt = box + bytes.readUInt32BE(box) - 8 - 36
  for (const [index, value] of [0, 0x10000, 0, 0xffff0000, 0].entries()) bytes.writeUInt32BE(value, matrixAt + 4 * index)
  assert.deepEqual(read(bytes, 'mp4'), { width: 48, height: 64 })
})
