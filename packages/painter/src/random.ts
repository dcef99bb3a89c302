import { createHash } from 'node:crypto'

export type Random = {
  /** 0 to 1, without 1. */
  next: () => number
  between: (from: number, to: number) => number
  /** Whole, both ends included. */
  whole: (from: number, to: number) => number
  /** Usually near the middle, and never further than `spread` from it. */
  around: (middle: number, spread: number) => number
  chance: (probability: number) => boolean
  pick: <T>(choices: readonly T[]) => T
  /**
   * An independent stream with this name. What one part of a picture draws from its stream does not shift other
   * parts.
   */
  fork: (name: string) => Random
}

export function createRandom(key: string): Random {
  const next = sfc32(createHash('sha256').update(key).digest())
  const between = (from: number, to: number): number => from + (to - from) * next()
  return {
    next,
    between,
    whole: (from, to) => Math.floor(between(from, to + 1)),
    around: (middle, spread) => middle + spread * (next() + next() - 1),
    chance: (probability) => next() < probability,
    pick: (choices) => {
      const choice = choices[Math.floor(next() * choices.length)]
      if (choice === undefined) throw new Error('nothing to pick from')
      return choice
    },
    fork: (name) => createRandom(`${key}/${name}`),
  }
}

/** Chris Doty-Humphrey's small fast counter, with 128 bits of state: far more than a picture needs. */
function sfc32(seed: Buffer): () => number {
  let a = seed.readInt32LE(0)
  let b = seed.readInt32LE(4)
  let c = seed.readInt32LE(8)
  let counter = seed.readInt32LE(12)
  return () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 4294967296
  }
}
