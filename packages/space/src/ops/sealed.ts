import { createHash } from 'node:crypto'
import { LINE_SEPARATOR } from '@atrium/sealing/line'
import { networkOf } from '@atrium/traffic/client-address'
import { pieceBytes } from '@atrium/traffic/unread-answers'
import type { RoomHead } from '../rooms/head.ts'
import { listLinesWithin } from '../rooms/store.ts'
import type { Caller, SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import type { SealedRequest } from './request.ts'
import { StreamedAnswer } from './streamed-answer.ts'

/** The number of lines that are read at once. No connection is held while they are sent. */
const pageBytes = pieceBytes
const pageLines = 256
/**
 * The time limit of an answer. A reader that needs longer for a room of 64 MiB receives less than 112 KB a second;
 * its place is given to others.
 */
const longestMs = 10 * 60_000
/**
 * The names of recipients are held until the end of the answer. Whoever makes a room can store lines with millions of
 * them, so all further names, and names longer than any of a device, are `unnamed`.
 */
const maxNames = 10_000
const maxNameLength = 128
const UNNAMED = 'unnamed'

/**
 * Returns the stored bytes unchanged, to any caller: without the room key they disclose the amount of the messages
 * and nothing of their content. They are sent while they are read. Values that are computed from them follow at the
 * end, so that the lines are read once.
 */
export async function sealed(ctx: SpaceContext, { room }: SealedRequest, { key }: Caller): Promise<StreamedAnswer> {
  const cut = new AbortController()
  const free = ctx.downloads.take({ address: key, network: networkOf(key, 56), room }, () => cut.abort())
  if (!free) throw new SpaceError('unavailable', 'too many large answers at once', 5)
  const timer = setTimeout(() => cut.abort(), longestMs).unref()
  const release = () => {
    clearTimeout(timer)
    free()
  }
  try {
    const head = await ctx.heads.add(room)
    if (!head) throw new SpaceError('not_found', 'room')
    // An error at the start still gets an error response.
    const first = await readPage(ctx, head, 0)
    return new StreamedAnswer({ pieces: formatSealed(ctx, head, first), bytesHeld: 3 * pieceBytes, release, cut: cut.signal })
  } catch (error) {
    release()
    throw error
  }
}

/**
 * Yields the JSON text in chunks. Lines up to the head never change, whatever is written meanwhile, unless the room
 * is removed.
 */
async function* formatSealed(ctx: SpaceContext, head: RoomHead, first: string[]): AsyncGenerator<Uint8Array, void, undefined> {
  const sha256 = createHash('sha256')
  const kids = new Set<string>()
  const piece = new Piece()
  let bytes = 0
  yield* piece.put('{"alg":"A256GCM","sealed":"')
  for (let seq = 0, lines = first; ; lines = await readPage(ctx, head, seq)) {
    for (const line of lines) {
      if (seq++ > 0) {
        sha256.update(LINE_SEPARATOR)
        bytes += LINE_SEPARATOR.length
        yield* piece.put(escaped(LINE_SEPARATOR))
      }
      sha256.update(line)
      bytes += Buffer.byteLength(line)
      // Not nested in another async generator: one promise per part took longer than everything else.
      for (const part of escapedParts(line, kids)) for (const full of piece.put(part)) yield full
    }
    if (seq >= head.count) break
  }
  yield* piece.put(`",${JSON.stringify({ bytes, sha256: sha256.digest('hex'), recipients: [...kids].sort() }).slice(1)}`)
  yield piece.rest()
}

/** Encodes text as UTF-8 into one buffer that is reused. */
class Piece {
  readonly #bytes = Buffer.allocUnsafeSlow(pieceBytes)
  readonly #encoder = new TextEncoder()
  #used = 0

  rest(): Uint8Array {
    const full = this.#bytes.subarray(0, this.#used)
    this.#used = 0
    return full
  }

  /** Yields the buffer each time that it is full. */
  *put(text: string): Generator<Uint8Array, void, undefined> {
    for (let rest = text; ;) {
      const { read, written } = this.#encoder.encodeInto(rest, this.#bytes.subarray(this.#used))
      this.#used += written
      if (read === rest.length) return
      rest = rest.slice(read)
      yield this.rest()
    }
  }
}

/** Throws if a line is missing, because the room was removed meanwhile. */
async function readPage(ctx: SpaceContext, { room, count }: RoomHead, fromSeq: number): Promise<string[]> {
  const toSeq = Math.min(fromSeq + pageLines, count)
  const lines = await listLinesWithin(ctx.db, room, { fromSeq, toSeq, bytes: pageBytes, atLeast: 1 })
  if (lines.length === 0 || lines.some(({ seq }, i) => seq !== fromSeq + i)) throw new SpaceError('not_found', 'room')
  return lines.map(({ line }) => line)
}

/** The form in which `formatLine` of sealing writes a line, whose only recipient is the room. */
const canonicalLine =
  /^\{"protected":"[\w-]+","recipients":\[\{"header":\{"alg":"A256KW","kid":"room"\},"encrypted_key":"[\w-]+"\}\],"iv":"[\w-]+","ciphertext":"[\w-]*","tag":"[\w-]+"\}$/

/**
 * Returns the line as part of a JSON string, and adds its recipients to `kids`. A canonical line is split at its
 * quotation marks, which copies nothing.
 */
function* escapedParts(line: string, kids: Set<string>): Generator<string, void, undefined> {
  if (!canonicalLine.test(line)) {
    addNames(line, kids)
    yield escaped(line)
    return
  }
  kids.add('room')
  let at = 0
  for (let quote = line.indexOf('"'); quote >= 0; quote = line.indexOf('"', at)) {
    yield line.slice(at, quote)
    yield '\\"'
    at = quote + 1
  }
  yield line.slice(at)
}

/**
 * Escaped text without its quotation marks can be split anywhere between lines, because no line ends within a
 * character.
 */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function addNames(line: string, kids: Set<string>): void {
  if (kids.size > maxNames) return
  for (const kid of recipientsOf(line)) kids.add(kids.size < maxNames || kids.has(kid) ? kid : UNNAMED)
}

/** Read from the stored line itself, whatever it contains. */
function recipientsOf(line: string): string[] {
  try {
    const { recipients, unprotected } = JSON.parse(line) as {
      recipients?: { header?: { kid?: unknown } }[]
      unprotected?: object
    }
    // A line that a client sealed, without a list.
    if (unprotected && !recipients) return ['room']
    return Array.isArray(recipients) ? recipients.map(({ header }) => nameOf(header?.kid)) : [UNNAMED]
  } catch {
    return [UNNAMED]
  }
}

function nameOf(kid: unknown): string {
  return typeof kid === 'string' && kid.length <= maxNameLength ? kid : UNNAMED
}
