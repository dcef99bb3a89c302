import { isTimestamp } from '@atrium/sealing/check'

/** Of a message in a room whose lines the clients seal. */
export interface Turn {
  t: 'turn'
  id: string
  at: string
  name?: string
  text: string
  reply_to?: string
}

/** Whether it is text of 1 to `most` code points. Other languages do not count in units of UTF-16. */
export function isText(value: unknown, most: number): value is string {
  if (typeof value !== 'string' || value === '') return false
  return value.length <= most || (value.length <= most * 2 && [...value].length <= most)
}

/** The message; undefined: it is none. */
export function findTurn(record: unknown): Turn | undefined {
  const { t, id, at, name, text, reply_to: replyTo } = (record ?? {}) as Partial<Record<string, unknown>>
  const isTurn =
    t === 'turn' &&
    isText(id, 100) &&
    isText(text, 16_384) &&
    isTimestamp(at) &&
    (name === undefined || isText(name, 80)) &&
    (replyTo === undefined || isText(replyTo, 100))
  return isTurn ? (record as Turn) : undefined
}

/** The service cannot refuse what it cannot read, and a line that no reader accepts ends the room for everybody. */
export const NOT_WRITABLE =
  'no reader would accept this: a text has 1 to 16,384 characters, a name up to 80, the id of a message up to 100'
