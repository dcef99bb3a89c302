import { type ClientKeys, openStoredLine, parseStoredLine, type Seen, type StoredLine } from '@atrium/sealing/client-sealed'
import { DamagedLine } from '@atrium/sealing/damaged-line'
import { isMk, isRoomName, type RoomSecret } from '@atrium/sealing/room-secret'
import { lineHash, openedInOrder } from '@atrium/sealing/web-lines'
import type { AnswerOf, Entry } from './space-ops.ts'
import { findTurn, NOT_WRITABLE, type Turn } from './turn.ts'

/**
 * What a reader found wrong.
 * form: a line is none. number: a line has another number than its place. chain: a line does not follow the line before.
 * end: the lines do not end with the etag of the answer. count: the answer counts other lines than it has.
 * rewritten: lines that were read before are gone, or others. sealed: the room key does not open a line, or it was sealed
 * for another room. ahead: its author had seen a line that does not come before it. fork: its author had seen another
 * line in that place. replay: a message appears twice. record: what was sealed is none. policy: line 0 is no policy, or a
 * later line is one that it may not be.
 * In a room with a list of devices also: signature: a line is not signed by the device that it names. author: that device
 * was not on the list. recipients: the list was not sealed to exactly its devices. key: a room key is not the one of which
 * the owner has signed the access key.
 */
export type TamperProblem =
  | 'form'
  | 'number'
  | 'chain'
  | 'end'
  | 'count'
  | 'rewritten'
  | 'sealed'
  | 'ahead'
  | 'fork'
  | 'replay'
  | 'record'
  | 'policy'
  | 'signature'
  | 'author'
  | 'recipients'
  | 'key'

/** The room is not what its authors wrote: the service, or somebody with the link, has changed it. */
export class TamperedRoomError extends Error {
  override readonly name = 'TamperedRoomError'
  readonly problem: TamperProblem
  /** The number of the line; of `rewritten`, how many were read; of `count` and `end`, the last line of the page. */
  readonly seq: number

  constructor(problem: TamperProblem, seq: number) {
    super(`line ${seq}: ${problem}`)
    this.problem = problem
    this.seq = seq
  }
}

/** The last line of an open room: its members go on in another one. */
export interface Farewell {
  t: 'farewell'
  id: string
  at: string
  name?: string
  /** `room~mk` of the other room; absent: its link is given by hand. */
  link?: string
}

/** A farewell that was read, and its place. */
export interface FoundFarewell {
  readonly seq: number
  readonly id: string
  readonly at: string
  /** Claimed. */
  readonly name?: string
  readonly to?: RoomSecret
}

type Page = AnswerOf<'read'>

/** What a reader has read: the hashes of all lines, the ids of their messages, and the farewells. */
export interface LinesRead {
  readonly hashes: readonly string[]
  readonly ids: Iterable<string>
  readonly farewells?: readonly FoundFarewell[]
}

/** Opens and checks the lines of a room from its first line on, page by page. It keeps the hash of each line. */
export class LineReader {
  readonly #keys: ClientKeys
  readonly #hashes: string[]
  readonly #ids: Set<string>
  readonly #farewells: FoundFarewell[]
  #failure: unknown

  /** `before`: what another reader has read of this room, to continue from there. */
  constructor(keys: ClientKeys, before: LinesRead = { hashes: [], ids: [] }) {
    this.#keys = keys
    this.#hashes = [...before.hashes]
    this.#farewells = [...(before.farewells ?? [])]
    this.#ids = new Set([...before.ids, ...this.#farewells.map(({ id }) => id)])
  }

  /** Of each line that was read. */
  get hashes(): readonly string[] {
    return this.#hashes
  }

  /** Where the next page begins. */
  get position(): { sinceCount: number; sinceEtag: string } {
    return { sinceCount: this.#hashes.length, sinceEtag: this.#hashes.at(-1) ?? '' }
  }

  /** The last line that was read, for the header of the next one. */
  get seen(): Seen | undefined {
    const hash = this.#hashes.at(-1)
    return hash === undefined ? undefined : { seq: this.#hashes.length - 1, hash }
  }

  /** The first farewell that was read, which counts. */
  get farewell(): FoundFarewell | undefined {
    return this.#farewells[0]
  }

  /** All farewells, for a reader that continues from here. */
  get farewells(): readonly FoundFarewell[] {
    return this.#farewells
  }

  /** Checks the page that follows what was read, and returns its messages. Throws TamperedRoomError, and reads no further then. */
  async take(page: Page): Promise<Entry[]> {
    if (this.#failure) throw this.#failure
    return this.#take(page).catch((error: unknown) => {
      this.#failure = error
      throw error
    })
  }

  async #take({ lines, count, etag }: Page): Promise<Entry[]> {
    const from = this.#hashes.length
    const { stored, hashes } = await checkPage({ lines, count, etag }, this.#hashes, parseStoredLine)
    const opened = await openedInOrder(stored.map((line) => this.#open(line)))
    const entries: Entry[] = []
    for (const [i, { seen, content }] of opened.entries()) {
      const seq = from + i
      checkSeen(seen, seq, this.#hashes)
      const record = readRecord(content, seq, this.#keys.room)
      this.#hashes.push(hashes[i] ?? '')
      if (!record) continue
      if (this.#ids.has(record.id)) throw new TamperedRoomError('replay', seq)
      this.#ids.add(record.id)
      if (record.t === 'turn') entries.push(entryOf(record, seq))
      else this.#farewells.push(foundFarewell(record, seq))
    }
    return entries
  }

  async #open(line: StoredLine) {
    try {
      return await openStoredLine(this.#keys, line)
    } catch (error) {
      // TypeError: what was sealed is not UTF-8.
      if (error instanceof DamagedLine) throw new TamperedRoomError('sealed', line.seq)
      if (error instanceof TypeError) throw new TamperedRoomError('record', line.seq)
      throw error
    }
  }
}

/**
 * Checks that a page continues what was read: the form, number and chain of its lines, and its end. `before`: the hashes of
 * all lines that were read.
 */
export async function checkPage<Line extends StoredLine>(
  { lines, count, etag }: Page,
  before: readonly string[],
  parse: (line: string) => Line,
): Promise<{ stored: Line[]; hashes: string[] }> {
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

export const policyRecord = JSON.stringify({ t: 'policy', policy: 'open' })

/** What a message seals, written now. Throws TypeError if it is none, because no reader would go on after it. */
export function turnRecord({
  id,
  name,
  text,
  replyTo,
}: Pick<Turn, 'id' | 'text'> & { name?: string | undefined; replyTo?: string | undefined }): string {
  const at = new Date().toISOString()
  const turn: Turn = {
    t: 'turn',
    id,
    at,
    ...(name !== undefined && { name }),
    text,
    ...(replyTo !== undefined && { reply_to: replyTo }),
  }
  if (!findTurn(turn)) throw new TypeError(NOT_WRITABLE)
  return JSON.stringify(turn)
}

/** What the last line of a room seals, written now. `to`: the room in which its members go on. Throws as `turnRecord`. */
export function farewellRecord({ id, name, to }: { id: string; name?: string | undefined; to?: RoomSecret | undefined }): string {
  const said = { id, at: new Date().toISOString(), ...(name !== undefined && { name }) }
  const farewell: Farewell = { t: 'farewell', ...said, ...(to && { link: `${to.room}~${to.mk}` }) }
  if (!findTurn({ ...said, t: 'turn', text: '-' })) throw new TypeError(NOT_WRITABLE)
  return JSON.stringify(farewell)
}

/** The message or farewell of a line; undefined: the policy, which line 0 is and no other. */
function readRecord(content: string, seq: number, room: string): Turn | Farewell | undefined {
  if ((content === policyRecord) !== (seq === 0)) throw new TamperedRoomError('policy', seq)
  if (seq === 0) return undefined
  let record: unknown
  try {
    record = JSON.parse(content)
  } catch {
    throw new TamperedRoomError('record', seq)
  }
  const found = findTurn(record) ?? findFarewell(record, room)
  if (!found) throw new TamperedRoomError('record', seq)
  return found
}

function findFarewell(record: unknown, room: string): Farewell | undefined {
  const { t, link, ...rest } = (record ?? {}) as Partial<Record<string, unknown>>
  // A farewell has the other members of a message, but no text.
  if (t !== 'farewell' || !findTurn({ ...rest, t: 'turn', text: '-', reply_to: undefined })) return undefined
  if (link === undefined) return record as Farewell
  const to = typeof link === 'string' ? secretOf(link) : undefined
  return to && to.room !== room ? (record as Farewell) : undefined
}

function secretOf(link: string): RoomSecret | undefined {
  const at = link.indexOf('~')
  const secret = { room: link.slice(0, at), mk: link.slice(at + 1) }
  return at > 0 && isRoomName(secret.room) && isMk(secret.mk) ? secret : undefined
}

function foundFarewell({ id, at, name, link }: Farewell, seq: number): FoundFarewell {
  const to = link === undefined ? undefined : secretOf(link)
  return { seq, id, at, ...(name !== undefined && { name }), ...(to && { to }) }
}

function entryOf({ id, at, name, text, reply_to }: Turn, seq: number): Entry {
  const author = { kind: 'anonymous' as const, ...(name !== undefined && { name }) }
  return { seq, id, at, author, message: { text, ...(reply_to !== undefined && { reply_to }) } }
}
