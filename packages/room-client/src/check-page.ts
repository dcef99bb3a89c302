import type { Seen, StoredLine } from '@atrium/sealing/client-sealed'
import { DamagedLine } from '@atrium/sealing/damaged-line'
import { lineHash } from '@atrium/sealing/web-lines'
import type { AnswerOf, Entry } from './space-ops.ts'
import { type CorrectBeginning, TamperedRoomError } from './tampered-room-error.ts'

type Page = AnswerOf<'read'>

export interface CheckedPage<Line> {
  readonly stored: Line[]
  readonly hashes: string[]
}

/**
 * Checks that a page continues what was read: the form, number and chain of its lines, and its end. `before`: the hashes of
 * all lines that were read.
 */
export async function checkPage<Line extends StoredLine>(
  { lines, count, etag }: Page,
  before: readonly string[],
  parse: (line: string) => Line,
): Promise<CheckedPage<Line>> {
  const from = before.length
  if (count < from) throw new TamperedRoomError('rewritten', from)
  const stored = lines.map((line, i) => parsePlaced(line, { seq: from + i, isFirst: i === 0, parse }))
  const hashes = await Promise.all(lines.map(lineHash))
  for (const [i, { prev }] of stored.entries())
    if (prev !== (i === 0 ? before.at(-1) : hashes[i - 1])) throw new TamperedRoomError('chain', from + i)
  const last = Math.max(0, from + lines.length - 1)
  if (count !== from + lines.length) throw new TamperedRoomError('count', last)
  if (etag !== (hashes.at(-1) ?? before.at(-1))) throw new TamperedRoomError('end', last)
  return { stored, hashes }
}

function parsePlaced<Line extends StoredLine>(
  line: string,
  { seq, isFirst, parse }: { seq: number; isFirst: boolean; parse: (line: string) => Line },
): Line {
  let stored: Line
  try {
    stored = parse(line)
  } catch (error) {
    if (error instanceof DamagedLine) throw new TamperedRoomError('form', seq)
    throw error
  }
  // The service starts over where it does not know the etag that it was asked with.
  if (isFirst && seq > 0 && stored.seq === 0) throw new TamperedRoomError('rewritten', seq)
  if (stored.seq !== seq) throw new TamperedRoomError('number', seq)
  return stored
}

/** Throws unless the author of line `seq` had seen one of the lines before it, as they are here. */
export function checkSeen(seen: Seen | undefined, seq: number, hashes: readonly string[]): void {
  if (seen === undefined) {
    if (seq > 0) throw new TamperedRoomError('ahead', seq)
    return
  }
  if (seen.seq >= seq) throw new TamperedRoomError('ahead', seq)
  if (seen.hash !== hashes[seen.seq]) throw new TamperedRoomError('fork', seq)
}

interface Beginning {
  /** Of the page, before the line that is wrong. */
  readonly lines: string[]
  /** The hashes of all lines before the page. */
  readonly before: readonly string[]
  /** Whether the page continues these. */
  readonly isContinued?: boolean
  readonly take: (part: Page) => Promise<Entry[]>
}

/**
 * The same error, with the messages before the line that is wrong. They are found by reading the page once more, up to that
 * line. So they pass the same checks, and where one of them is wrong, too, the beginning ends before it.
 */
export async function withBeginning(
  { problem, seq }: TamperedRoomError,
  { lines, before, isContinued = false, take }: Beginning,
): Promise<TamperedRoomError> {
  // There is no room without a line.
  if (before.length + lines.length === 0) return new TamperedRoomError(problem, seq, { entries: [], isContinued })
  const last = lines.at(-1)
  const etag = last === undefined ? before.at(-1) : await lineHash(last)
  const part = { lines, count: before.length + lines.length, etag: etag ?? '' }
  const read = await take(part).then(
    (entries): CorrectBeginning => ({ entries, isContinued: lines.length > 0 }),
    (error: unknown): CorrectBeginning => {
      if (error instanceof TamperedRoomError) return error
      throw error
    },
  )
  return new TamperedRoomError(problem, seq, { entries: read.entries, isContinued: isContinued || read.isContinued })
}
