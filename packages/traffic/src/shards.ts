/**
 * The key of the advisory lock that `atrium distribute` holds in its session. A process reads where the shards are when it
 * starts, and only while nobody holds this lock: it would not learn what the command moves.
 */
export const distributionLockKey = '7310025491123310545'

/**
 * Which shard of a distributed table a text belongs to. Citus gives each shard a range of hashes, so the process can
 * tell it without a query. On PostgreSQL alone there is one shard.
 */
export class Shards {
  /** Where each range begins, in ascending order. */
  readonly #starts: readonly number[]

  constructor(starts: readonly number[] = []) {
    this.#starts = starts.toSorted((a, b) => a - b)
  }

  get count(): number {
    return Math.max(1, this.#starts.length)
  }

  /** From 0 to `count` - 1. */
  shardOf(value: string): number {
    if (this.count === 1) return 0
    const hash = hashText(value)
    const shard = this.#starts.findLastIndex((start) => start <= hash)
    return Math.max(0, shard)
  }

  /** The first and the last hash of a shard. */
  hashesOf(shard: number): [first: number, last: number] {
    return [this.#starts[shard] ?? minHash, (this.#starts[shard + 1] ?? maxHash + 1) - 1]
  }
}

const minHash = -(2 ** 31)
const maxHash = 2 ** 31 - 1

/**
 * PostgreSQL's `hashtext` for UTF-8 and a deterministic collation, which Citus distributes rows by: Bob Jenkins'
 * lookup3 with PostgreSQL's seed. A signed integer of 32 bits. Collisions do no harm, so it need not be secure.
 *
 * @example hashText('a') // 1075015857
 */
export function hashText(text: string): number {
  const bytes = Buffer.from(text)
  let a = (0x9e3779b9 + bytes.length + 3923095) | 0
  let [b, c, at] = [a, a, 0]
  for (; bytes.length - at >= 12; at += 12) {
    a = (a + bytes.readInt32LE(at)) | 0
    b = (b + bytes.readInt32LE(at + 4)) | 0
    c = (c + bytes.readInt32LE(at + 8)) | 0
    a = ((a - c) ^ rotate(c, 4)) | 0
    c = (c + b) | 0
    b = ((b - a) ^ rotate(a, 6)) | 0
    a = (a + c) | 0
    c = ((c - b) ^ rotate(b, 8)) | 0
    b = (b + a) | 0
    a = ((a - c) ^ rotate(c, 16)) | 0
    c = (c + b) | 0
    b = ((b - a) ^ rotate(a, 19)) | 0
    a = (a + c) | 0
    c = ((c - b) ^ rotate(b, 4)) | 0
    b = (b + a) | 0
  }
  const rest = Buffer.alloc(12)
  // The lowest byte of the last word stays empty: the length is in it already.
  bytes.copy(rest, 0, at, Math.min(at + 8, bytes.length))
  if (bytes.length > at + 8) bytes.copy(rest, 9, at + 8)
  a = (a + rest.readInt32LE(0)) | 0
  b = (b + rest.readInt32LE(4)) | 0
  c = (c + rest.readInt32LE(8)) | 0
  c = ((c ^ b) - rotate(b, 14)) | 0
  a = ((a ^ c) - rotate(c, 11)) | 0
  b = ((b ^ a) - rotate(a, 25)) | 0
  c = ((c ^ b) - rotate(b, 16)) | 0
  a = ((a ^ c) - rotate(c, 4)) | 0
  b = ((b ^ a) - rotate(a, 14)) | 0
  return ((c ^ b) - rotate(b, 24)) | 0
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by))
}
