import { codewordsOf, type Version, versionFor } from './qr-codewords.ts'

/** A QR code (ISO/IEC 18004), row by row: whether a module is dark. */
export type QrCode = readonly (readonly boolean[])[]

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
  const codewords = codewordsOf(bytes, version)
  const candidates = MASKS.map((isMasked, mask) => draw(codewords, version, { mask, isMasked }))
  return candidates.reduce((best, one) => (penaltyOf(one) < penaltyOf(best) ? one : best))
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
