/** A QR code (ISO/IEC 18004), row by row: whether a module is dark. */
export type QrCode = readonly (readonly boolean[])[]

interface Version {
  readonly number: number
  /** Error-correction codewords of a block, at level M. */
  readonly eccLength: number
  readonly blockCount: number
}

/** By number, from 1. */
const VERSIONS: readonly Version[] = (
  [
    [10, 1],
    [16, 1],
    [26, 1],
    [18, 2],
    [24, 2],
    [16, 4],
    [18, 4],
    [22, 4],
    [22, 5],
    [26, 5],
    [30, 5],
    [22, 8],
    [22, 9],
    [24, 9],
    [24, 10],
    [28, 10],
    [28, 11],
    [26, 13],
    [26, 14],
    [26, 16],
    [26, 17],
    [28, 17],
    [28, 18],
    [28, 20],
    [28, 21],
    [28, 23],
    [28, 25],
    [28, 26],
    [28, 28],
    [28, 29],
    [28, 31],
    [28, 33],
    [28, 35],
    [28, 37],
    [28, 38],
    [28, 40],
    [28, 43],
    [28, 45],
    [28, 47],
    [28, 49],
  ] as const
).map(([eccLength, blockCount], i) => ({ number: i + 1, eccLength, blockCount }))
const BYTE_MODE = 0b0100
/** Level M in the format information. */
const LEVEL_BITS = 0b00
type Mask = (x: number, y: number) => boolean

/** By number, as in the format information. */
const MASKS: readonly Mask[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
]

/**
 * Encodes a text as UTF-8 bytes at level M, which tolerates the loss of 15 %. Throws RangeError beyond 2,331 bytes.
 */
export function encodeQr(text: string): QrCode {
  const bytes = new TextEncoder().encode(text)
  const version = versionFor(bytes.length)
  const codewords = interleave(dataCodewords(bytes, version), version)
  const candidates = MASKS.map((isMasked, mask) => draw(codewords, version, { mask, isMasked }))
  return candidates.reduce((best, one) => (penaltyOf(one) < penaltyOf(best) ? one : best))
}

function versionFor(length: number): Version {
  const version = VERSIONS.find((one) => 4 + lengthBits(one) + length * 8 <= dataBytes(one) * 8)
  if (!version) throw new RangeError('the text is too long for a QR code')
  return version
}

function lengthBits({ number }: Version): number {
  return number < 10 ? 8 : 16
}

/** The modules that are neither patterns nor format or version information, in whole bytes. */
function rawBytes({ number: version }: Version): number {
  const aligned = Math.floor(version / 7) + 2
  const alignment = version === 1 ? 0 : (25 * aligned - 10) * aligned - 55
  return Math.floor(((16 * version + 128) * version + 64 - alignment - (version >= 7 ? 36 : 0)) / 8)
}

function dataBytes(version: Version): number {
  return rawBytes(version) - version.eccLength * version.blockCount
}

function dataCodewords(bytes: Uint8Array, version: Version): number[] {
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

/** Interleaves the blocks and their error correction, column by column. The last blocks are one codeword longer. */
function interleave(data: readonly number[], { blockCount: count, eccLength }: Version): number[] {
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
    for (const [n, coefficient] of coefficients.entries())
      coefficients[n] = multiply(coefficient, root) ^ (coefficients[n + 1] ?? 0)
  }
  return coefficients
}

function remainderOf(data: readonly number[], generator: readonly number[]): number[] {
  let remainder = generator.map(() => 0)
  for (const byte of data) {
    const [first = 0, ...rest] = remainder
    remainder = generator.map((coefficient, i) => (rest[i] ?? 0) ^ multiply(coefficient, byte ^ first))
  }
  return remainder
}

/** The modules during drawing; undefined for those not drawn yet. Drawing outside has no effect. */
class Grid {
  readonly size: number
  readonly #rows: (boolean | undefined)[][]

  constructor(size: number) {
    this.size = size
    this.#rows = Array.from({ length: size }, () => Array<undefined>(size).fill(undefined))
  }

  get(x: number, y: number): boolean | undefined {
    return this.#rows[y]?.[x]
  }

  set(x: number, y: number, isDark: boolean): void {
    const row = this.#rows[y]
    if (row && x >= 0 && x < this.size) row[x] = isDark
  }

  toCode(): QrCode {
    return this.#rows.map((row) => row.map(Boolean))
  }
}

function draw(codewords: readonly number[], version: Version, { mask, isMasked }: { mask: number; isMasked: Mask }): QrCode {
  const grid = new Grid(version.number * 4 + 17)
  drawPatterns(grid, version.number)
  drawFormat(grid, mask)
  let bit = 0
  for (const [x, y] of zigzag(grid.size)) {
    if (grid.get(x, y) !== undefined) continue
    const isDark = ((codewords[bit >>> 3] ?? 0) >>> (7 - (bit & 7))) & 1
    grid.set(x, y, (isDark === 1) !== isMasked(x, y))
    bit++
  }
  return grid.toCode()
}

function drawPatterns(grid: Grid, version: number): void {
  const { size } = grid
  for (let i = 0; i < size; i++) {
    grid.set(i, 6, i % 2 === 0)
    grid.set(6, i, i % 2 === 0)
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    drawRings(grid, { x, y, radius: 4, dark: [0, 1, 3] })
  const centres = alignmentCentres(version, size)
  for (const x of centres) {
    for (const y of centres) drawAlignment(grid, x, y)
  }
  if (version >= 7) drawVersion(grid, version)
}

/** Not over the finders. */
function drawAlignment(grid: Grid, x: number, y: number): void {
  const { size } = grid
  const isFinder = (x < 9 && y < 9) || (x < 9 && y > size - 10) || (x > size - 10 && y < 9)
  if (!isFinder) drawRings(grid, { x, y, radius: 2, dark: [0, 2] })
}

interface Rings {
  readonly x: number
  readonly y: number
  readonly radius: number
  /** Distances from the centre. */
  readonly dark: readonly number[]
}

function drawRings(grid: Grid, { x, y, radius, dark }: Rings): void {
  for (let dy = -radius; dy <= radius; dy++) {
    for (let dx = -radius; dx <= radius; dx++) grid.set(x + dx, y + dy, dark.includes(Math.max(Math.abs(dx), Math.abs(dy))))
  }
}

function alignmentCentres(version: number, size: number): number[] {
  if (version === 1) return []
  const count = Math.floor(version / 7) + 2
  const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2
  return [6, ...Array.from({ length: count - 1 }, (_, i) => size - 7 - (count - 2 - i) * step)]
}

/** Five bits and the remainder of a BCH code, twice. */
function drawFormat(grid: Grid, mask: number): void {
  const { size } = grid
  const data = (LEVEL_BITS << 3) | mask
  const bits = ((data << 10) | bchRemainder(data, 10, 0x537)) ^ 0x5412
  const isDark = (i: number) => ((bits >>> i) & 1) === 1
  for (let i = 0; i < 15; i++) {
    const [nearY, nearX] = i < 8 ? [i < 6 ? i : i + 1, 8] : [8, i < 9 ? 7 : 14 - i]
    grid.set(nearX, nearY, isDark(i))
    if (i < 8) grid.set(size - 1 - i, 8, isDark(i))
    else grid.set(8, size - 15 + i, isDark(i))
  }
  grid.set(8, size - 8, true)
}

function drawVersion(grid: Grid, version: number): void {
  const bits = (version << 12) | bchRemainder(version, 12, 0x1f25)
  for (let i = 0; i < 18; i++) {
    const [a, b] = [grid.size - 11 + (i % 3), Math.floor(i / 3)]
    const isDark = ((bits >>> i) & 1) === 1
    grid.set(a, b, isDark)
    grid.set(b, a, isDark)
  }
}

function bchRemainder(data: number, length: number, polynomial: number): number {
  let remainder = data
  for (let i = 0; i < length; i++) remainder = (remainder << 1) ^ ((remainder >>> (length - 1)) * polynomial)
  return remainder
}

/**
 * The positions of the data: columns of two modules from the right, alternately upwards and downwards, around the
 * vertical timing pattern.
 */
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

/** The penalty of the standard's four rules: long runs, blocks, patterns that look like a finder, and imbalance. */
function penaltyOf(modules: QrCode): number {
  const size = modules.length
  const columns = modules.map((_, x) => modules.map((row) => row[x] === true))
  const lines = [...modules, ...columns].map((line) => line.map((isDark) => (isDark ? '1' : '0')).join(''))
  let penalty = 0
  for (const line of lines) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2
    penalty += 40 * (line.split('00001011101').length + line.split('10111010000').length - 2)
  }
  for (const [y, row] of modules.entries()) {
    const above = modules[y - 1] ?? []
    for (const [x, isDark] of row.entries())
      if (row[x - 1] === isDark && above[x] === isDark && above[x - 1] === isDark) penalty += 3
  }
  const dark = modules.flat().filter(Boolean).length
  return penalty + 10 * Math.floor(Math.abs((dark * 20) / size ** 2 - 10))
}
