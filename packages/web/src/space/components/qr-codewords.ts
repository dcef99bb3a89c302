export interface Version {
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

/** The smallest version that has room for so many bytes. Throws RangeError if none has. */
export function versionFor(length: number): Version {
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

/** The codewords of a text with their error correction, in the order in which they are drawn. */
export function codewordsOf(bytes: Uint8Array, version: Version): number[] {
  return interleave(dataCodewords(bytes, version), version)
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
