import { randomBytes } from 'node:crypto'
import type { TurnRecord } from '@atrium/sealing/records'

const WORDS =
  'the lamps are lit and the tide is out so we walk along the harbour wall and talk about what to bring tomorrow'.split(' ')

export const SCRIBE = { kind: 'agent', id: 'agt_0123456789012345678901', name: 'Scribe' } as const

/** What an agent says, by default. */
export function saying(text: string, author: TurnRecord['author'] = SCRIBE): TurnRecord {
  return { t: 'turn', id: randomBytes(16).toString('base64url'), at: new Date().toISOString(), author, message: { text } }
}

/** Numbered messages of several guests and an agent. */
export function writingsOf(count: number): TurnRecord[] {
  return Array.from({ length: count }, (_, i) => {
    const words = Array.from({ length: 4 + ((i * 7) % 37) }, (_, n) => WORDS[(i + n * 5) % WORDS.length]).join(' ')
    const text = `${i}: ${words}${i % 23 === 0 ? ` https://example.com/${i}` : ''}`
    const key = `${'abcdefgh'[Math.floor(i / 3) % 8]}${'A'.repeat(42)}`
    return saying(text, i % 11 === 0 ? SCRIBE : { kind: 'anonymous', key })
  })
}
