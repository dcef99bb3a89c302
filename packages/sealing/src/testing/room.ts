import { type KeyObject } from 'node:crypto'
import { lineHash, sealLine } from '../node-lines.ts'

export const secret = { room: 'lantern-night', mk: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA' }

/** The payloads as lines that follow one another. */
export function sealAll(key: KeyObject, payloads: readonly string[]): string[] {
  const lines: string[] = []
  for (const [seq, payload] of payloads.entries()) {
    const last = lines.at(-1)
    lines.push(sealLine({ key, seq, prev: last && lineHash(last), payload }))
  }
  return lines
}
