/** Where a room's chain stands, with its newest policy record: all that a poll without news and a turn need to read. */
export interface RoomHead {
  room: string
  /** Lines so far; the next one's number. */
  count: number
  /** Hash of the last line. */
  etag: string
  bytes: number
  policySeq: number
  policyHash: string
  policyLine: string
}

export const roomLimits = {
  lines: 100_000,
  bytes: 64 * 1024 * 1024,
} as const
