/**
 * The end of a room's chain, with its newest policy record: everything that a turn, and a poll without news, need to
 * read.
 */
export interface RoomHead {
  room: string
  /** The number of lines, which is also the number of the next line. */
  count: number
  /** Hash of the last line. */
  etag: string
  bytes: number
  policySeq: number
  policyHash: string
  /** Empty if the clients seal the lines, unless the room has a list of devices. */
  policyLine: string
  /** The public access key, which only a room has whose lines the clients seal. Empty: `policyLine` has it. */
  accessKey: string | undefined
}

export const roomLimits = { lines: 100_000, bytes: 64 * 1024 * 1024 } as const
/** The owner alone writes policies: whoever fills the room does not keep the owner from removing them. */
export const policyLimits = { lines: roomLimits.lines + 64, bytes: roomLimits.bytes + 4 * 1024 * 1024 } as const
