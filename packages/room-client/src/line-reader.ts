import { type ClientKeys, openStoredLine, parseStoredLine, type Seen, type StoredLine } from '@atrium/sealing/client-sealed'
import { DamagedLine } from '@atrium/sealing/damaged-line'
import { isMk, isRoomName, type RoomSecret } from '@atrium/sealing/room-secret'
import { type CheckedPage, checkPage, checkSeen, withBeginning } from './check-page.ts'
import { parseJson } from './parse-json.ts'
import type { AnswerOf, Entry } from './space-ops.ts'
import { TamperedRoomError } from './tampered-room-error.ts'
import { findTurn, NOT_WRITABLE, type Turn } from './turn.ts'

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

  async #take(page: Page): Promise<Entry[]> {
    let checked: CheckedPage<StoredLine>
    try {
      checked = await checkPage(page, this.#hashes, parseStoredLine)
    } catch (error) {
      if (!(error instanceof TamperedRoomError)) throw error
      const lines = page.lines.slice(0, Math.max(0, error.seq - this.#hashes.length))
      throw await withBeginning(error, { lines, before: this.#hashes, take: (part) => this.#take(part) })
    }
    const entries: Entry[] = []
    try {
      await this.#takeLines(checked, entries)
    } catch (error) {
      throw error instanceof TamperedRoomError
        ? new TamperedRoomError(error.problem, error.seq, { entries, isContinued: true })
        : error
    }
    return entries
  }

  /** The lines are opened at the same time, and taken in their order: the first one that is wrong is named. */
  async #takeLines({ stored, hashes }: CheckedPage<StoredLine>, entries: Entry[]): Promise<void> {
    const from = this.#hashes.length
    const opened = await Promise.allSettled(stored.map((line) => this.#open(line)))
    for (const [i, line] of opened.entries()) {
      if (line.status === 'rejected') throw line.reason
      const seq = from + i
      const { seen, content } = line.value
      checkSeen(seen, seq, this.#hashes)
      const record = readRecord(content, seq, this.#keys.room)
      if (record && this.#ids.has(record.id)) throw new TamperedRoomError('replay', seq)
      this.#hashes.push(hashes[i] ?? '')
      if (!record) continue
      this.#ids.add(record.id)
      if (record.t === 'turn') entries.push(entryOf(record, seq))
      else this.#farewells.push(foundFarewell(record, seq))
    }
  }

  async #open(line: StoredLine) {
    try {
      return await openStoredLine(this.#keys, line)
    } catch (error) {
      if (error instanceof DamagedLine) throw new TamperedRoomError('sealed', line.seq)
      throw error
    }
  }
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
  const record = parseJson(content)
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
