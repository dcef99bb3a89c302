import assert from 'node:assert/strict'
import { test } from 'node:test'
import jsqr from 'jsqr'
import { encodeQr, type QrCode } from './qr-code.ts'

const MODULE_PX = 3
const QUIET = 4

/** The picture as a camera reads it: black on white, with the quiet zone. */
function decode(code: QrCode): string | undefined {
  const size = (code.length + 2 * QUIET) * MODULE_PX
  const pixels = new Uint8ClampedArray(size * size * 4).fill(255)
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const isDark = code[Math.floor(y / MODULE_PX) - QUIET]?.[Math.floor(x / MODULE_PX) - QUIET]
      if (isDark) pixels.fill(0, (y * size + x) * 4, (y * size + x) * 4 + 3)
    }
  }
  const found = (jsqr as unknown as typeof jsqr.default)(pixels, size, size)
  return found ? new TextDecoder().decode(Uint8Array.from(found.binaryData)) : undefined
}

const link = (length: number) => `https://rooms.example/space#${'aZ09-_'.repeat(400)}`.slice(0, length)

test('a link is what a decoder reads, in every size that links have', () => {
  for (const length of [1, 14, 15, 26, 42, 62, 84, 95, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 666, 1_059, 1_500])
    assert.equal(decode(encodeQr(link(length))), link(length), `${length} bytes`)
})

test('other scripts are read, too', () => {
  for (const text of ['Zimmer für Gäste', '部屋の鍵', 'غرفة', '🏮']) assert.equal(decode(encodeQr(text)), text)
})

test('a few wrong modules are corrected', () => {
  const code = encodeQr(link(95)).map((row) => [...row])
  for (let i = 0; i < 8; i++) code[14 + (i % 4)]![20 + Math.floor(i / 4)] = !code[14 + (i % 4)]![20 + Math.floor(i / 4)]
  assert.equal(decode(code), link(95))
})

test('the largest has 2,331 bytes', () => {
  assert.equal(encodeQr('x'.repeat(2_331)).length, 177)
  assert.throws(() => encodeQr('x'.repeat(2_332)), RangeError)
})
