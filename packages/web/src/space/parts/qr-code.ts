/** A QR code (ISO/IEC 18004), row by row: whether a module is dark. */
export type QrCode = readonly (readonly boolean[])[]

/** By version, from 1: error-correction codewords of a block at level M, and the number of blocks. */
const ECC_PER_BLOCK = [
  10,
  16,
  26,
  18,
  24,
  16,
  18,
  22,
  22,
  26,
  30,
  22,
  22,
  24,
  24,
  28,
  28,
  26,
  26,
  26,
  26,
  ...Array<number>(19).fill(28),
]
const BLOCKS = [
  1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38,
  40, 43, 45, 47, 49,
]
const BYTE_MODE = 0b0100
/** Level M in the format information. */
const LEVEL_BITS = 0b00
const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
]

/** Encodes a text as UTF-8 bytes at level M, which survives the loss of 15 % of it. Throws RangeError beyond 2,331 bytes. */
export function encodeQr(text: string): QrCode {
  const bytes = new TextEncoder().encode(text)
  const version = versionFor(bytes.length)
  const codewords = interleave(dataCodewords(bytes, version), version)
  const candidates = MASKS.map((_, mask) => draw(codewords, version, mask))
  return candidates.reduce((best, one) => (penaltyOf(one) < penaltyOf(best) ? one : best))
}

function versionFor(length: number): number {
  const version = BLOCKS.findIndex((_, i) => 4 + lengthBits(i + 1) + length * 8 <= dataBytes(i + 1) * 8) + 1
  if (version === 0) throw new RangeError('the text is too long for a QR code')
  return version
}

function lengthBits(version: number): number {
  return version < 10 ? 8 : 16
}

/** Modules that are neither patterns nor format or version information, as whole bytes. */
function rawBytes(version: number): number {
  const aligned = Math.floor(version / 7) + 2
  const alignment = version === 1 ? 0 : (25 * aligned - 10) * aligned - 55
  return Math.floor(((16 * version + 128) * version + 64 - alignment - (version >= 7 ? 36 : 0)) / 8)
}

function dataBytes(version: number): number {
  return rawBytes(version) - ECC_PER_BLOCK[version - 1]! * BLOCKS[version - 1]!
}

function dataCodewords(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = []
  const put = (value: number, length: number) => {
    for (let i = length - 1; i >= 0; i--) bits.push((value >>> i) & 1)
  }
  const capacity = dataBytes(version) * 8
  put(BYTE_MODE, 4)
  put(bytes.length, lengthBits(version))
  for (const byte of bytes) put(byte, 8)
  put(0, Math.min(4, capacity - bits.length))
  put(0, -bits.length & 7)
  for (let pad = 0xec; bits.length < capacity; pad ^= 0xec ^ 0x11) put(pad, 8)
  return Array.from({ length: bits.length / 8 }, (_, i) => Number.parseInt(bits.slice(i * 8, i * 8 + 8).join(''), 2))
}

/** Blocks with their error correction, column by column; the last blocks are one longer. */
function interleave(data: readonly number[], version: number): number[] {
  const [count, eccLength] = [BLOCKS[version - 1]!, ECC_PER_BLOCK[version - 1]!]
  const shortLength = Math.floor(data.length / count)
  const shortCount = count - (data.length % count)
  const generator = generatorOf(eccLength)
  const blocks = Array.from({ length: count }, (_, i) => {
    const start = i * shortLength + Math.max(0, i - shortCount)
    return data.slice(start, start + shortLength + (i < shortCount ? 0 : 1))
  })
  const corrections = blocks.map((block) => remainderOf(block, generator))
  const columns = (rows: readonly (readonly number[])[], length: number) =>
    Array.from({ length }, (_, i) => rows.flatMap((row) => (row[i] === undefined ? [] : [row[i]]))).flat()
  return [...columns(blocks, shortLength + 1), ...columns(corrections, eccLength)]
}

/** In GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(x: number, y: number): number {
  let z = 0
  for (let i = 7; i >= 0; i--) {
    z = (z << 1) ^ ((z >>> 7) * 0x11d)
    z ^= ((y >>> i) & 1) * x
  }
  return z
}

function generatorOf(degree: number): number[] {
  const coefficients = [...Array<number>(degree - 1).fill(0), 1]
  for (let i = 0, root = 1; i < degree; i++, root = multiply(root, 2)) {
    for (let n = 0; n < degree; n++) coefficients[n] = multiply(coefficients[n]!, root) ^ (coefficients[n + 1] ?? 0)
  }
  return coefficients
}

function remainderOf(data: readonly number[], generator: readonly number[]): number[] {
  const remainder = generator.map(() => 0)
  for (const byte of data) {
    const factor = byte ^ remainder.shift()!
    remainder.push(0)
    generator.forEach((coefficient, i) => void (remainder[i]! ^= multiply(coefficient, factor)))
  }
  return remainder
}

function draw(codewords: readonly number[], version: number, mask: number): QrCode {
  const size = version * 4 + 17
  const modules: (boolean | undefined)[][] = Array.from({ length: size }, () => Array<undefined>(size).fill(undefined))
  drawPatterns(modules, version)
  drawFormat(modules, mask)
  const isMasked = MASKS[mask]!
  let bit = 0
  for (const [x, y] of zigzag(size)) {
    if (modules[y]![x] !== undefined) continue
    const isDark = ((codewords[bit >>> 3] ?? 0) >>> (7 - (bit & 7))) & 1
    modules[y]![x] = (isDark === 1) !== isMasked(x, y)
    bit++
  }
  return modules.map((row) => row.map(Boolean))
}

function drawPatterns(modules: (boolean | undefined)[][], version: number): void {
  const size = modules.length
  for (let i = 0; i < size; i++) modules[6]![i] = modules[i]![6] = i % 2 === 0
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    drawRings(modules, { x, y, radius: 4, dark: [0, 1, 3] })
  const centres = alignmentCentres(version, size)
  for (const x of centres) {
    for (const y of centres) drawAlignment(modules, x, y, size)
  }
  if (version >= 7) drawVersion(modules, version)
}

/** Not over the finders. */
function drawAlignment(modules: (boolean | undefined)[][], x: number, y: number, size: number): void {
  const isFinder = (x < 9 && y < 9) || (x < 9 && y > size - 10) || (x > size - 10 && y < 9)
  if (!isFinder) drawRings(modules, { x, y, radius: 2, dark: [0, 2] })
}

interface Rings {
  readonly x: number
  readonly y: number
  readonly radius: number
  /** Distances from the centre. */
  readonly dark: readonly number[]
}

function drawRings(modules: (boolean | undefined)[][], { x, y, radius, dark }: Rings): void {
  for (let dy = -radius; dy <= radius; dy++) {
    for (let dx = -radius; dx <= radius; dx++) {
      const row = modules[y + dy]
      if (row && x + dx >= 0 && x + dx < row.length) row[x + dx] = dark.includes(Math.max(Math.abs(dx), Math.abs(dy)))
    }
  }
}

function alignmentCentres(version: number, size: number): number[] {
  if (version === 1) return []
  const count = Math.floor(version / 7) + 2
  const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2
  return [6, ...Array.from({ length: count - 1 }, (_, i) => size - 7 - (count - 2 - i) * step)]
}

/** Five bits and the remainder of a BCH code, twice. */
function drawFormat(modules: (boolean | undefined)[][], mask: number): void {
  const size = modules.length
  const data = (LEVEL_BITS << 3) | mask
  const bits = ((data << 10) | bchRemainder(data, 10, 0x537)) ^ 0x5412
  const isDark = (i: number) => ((bits >>> i) & 1) === 1
  for (let i = 0; i < 15; i++) {
    const [nearY, nearX] = i < 8 ? [i < 6 ? i : i + 1, 8] : [8, i < 9 ? 7 : 14 - i]
    modules[nearY]![nearX] = isDark(i)
    if (i < 8) modules[8]![size - 1 - i] = isDark(i)
    else modules[size - 15 + i]![8] = isDark(i)
  }
  modules[size - 8]![8] = true
}

function drawVersion(modules: (boolean | undefined)[][], version: number): void {
  const bits = (version << 12) | bchRemainder(version, 12, 0x1f25)
  for (let i = 0; i < 18; i++) {
    const [a, b] = [modules.length - 11 + (i % 3), Math.floor(i / 3)]
    modules[b]![a] = modules[a]![b] = ((bits >>> i) & 1) === 1
  }
}

function bchRemainder(data: number, length: number, polynomial: number): number {
  let remainder = data
  for (let i = 0; i < length; i++) remainder = (remainder << 1) ^ ((remainder >>> (length - 1)) * polynomial)
  return remainder
}

/** Where data goes: in columns of two from the right, up and down in turn, around the vertical timing pattern. */
function* zigzag(size: number): Generator<readonly [x: number, y: number]> {
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5
    const isUpward = ((right + 1) & 2) === 0
    for (let i = 0; i < size; i++) {
      const y = isUpward ? size - 1 - i : i
      yield [right, y]
      yield [right - 1, y]
    }
  }
}

/** How hard it is to read, by the standard's four rules: long runs, blocks, what looks like a finder, and imbalance. */
function penaltyOf(modules: QrCode): number {
  const size = modules.length
  const columns = modules.map((_, x) => modules.map((row) => row[x]!))
  const lines = [...modules, ...columns].map((line) => line.map((isDark) => (isDark ? '1' : '0')).join(''))
  let penalty = 0
  for (const line of lines) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2
    penalty += 40 * (line.split('00001011101').length + line.split('10111010000').length - 2)
  }
  for (let y = 1; y < size; y++) {
    for (let x = 1; x < size; x++) {
      const isDark = modules[y]![x]
      if (modules[y]![x - 1] === isDark && modules[y - 1]![x] === isDark && modules[y - 1]![x - 1] === isDark) penalty += 3
    }
  }
  const dark = modules.flat().filter(Boolean).length
  return penalty + 10 * Math.floor(Math.abs((dark * 20) / size ** 2 - 10))
}
