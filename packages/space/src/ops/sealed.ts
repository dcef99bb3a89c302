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

/** Of lines, read at once. No connection is held while they go out. */
const pageBytes = pieceBytes
const pageLines = 256
/** Who takes longer for a room of 64 MiB reads slower than 112 KB a second: their place goes to others. */
const longestMs = 10 * 60_000

/**
 * The stored bytes as they are, for whoever asks: without the room key they tell how much was said, and nothing of it. Sent as they are read. What is
 * computed of them comes behind them, so that they are read once.
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
    // Whatever goes wrong at the start still gets an answer of its own.
    const first = await readPage(ctx, head, 0)
    return new StreamedAnswer({ pieces: formatSealed(ctx, head, first), bytesHeld: 3 * pieceBytes, release, cut: cut.signal })
  } catch (error) {
    release()
    throw error
  }
}

/** The JSON text in pieces. The lines up to the head's are there to stay, whatever is said meanwhile, unless the room is removed. */
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
      // Not through another generator of promises: one a part took longer than all the rest.
      for (const part of escapedParts(line, kids)) for (const full of piece.put(part)) yield full
    }
    if (seq >= head.count) break
  }
  yield* piece.put(`",${JSON.stringify({ bytes, sha256: sha256.digest('hex'), recipients: [...kids].sort() }).slice(1)}`)
  yield piece.rest()
}

/** Text as UTF-8 in one piece of memory that is filled again and again. */
class Piece {
  readonly #bytes = Buffer.allocUnsafeSlow(pieceBytes)
  readonly #encoder = new TextEncoder()
  #used = 0

  rest(): Uint8Array {
    const full = this.#bytes.subarray(0, this.#used)
    this.#used = 0
    return full
  }

  /** Gives the piece each time that it is full. */
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

/** Throws where a line is missing: the room was removed meanwhile. */
async function readPage(ctx: SpaceContext, { room, count }: RoomHead, fromSeq: number): Promise<string[]> {
  const toSeq = Math.min(fromSeq + pageLines, count)
  const lines = await listLinesWithin(ctx.db, room, { fromSeq, toSeq, bytes: pageBytes, atLeast: 1 })
  if (lines.length === 0 || lines.some(({ seq }, i) => seq !== fromSeq + i)) throw new SpaceError('not_found', 'room')
  return lines.map(({ line }) => line)
}

/** What `formatLine` of sealing writes, whose one recipient is the room. */
const canonicalLine =
  /^\{"protected":"[\w-]+","recipients":\[\{"header":\{"alg":"A256KW","kid":"room"\},"encrypted_key":"[\w-]+"\}\],"iv":"[\w-]+","ciphertext":"[\w-]*","tag":"[\w-]+"\}$/

/**
 * The line as part of a JSON string; whom it names as recipients goes into `kids`. A canonical line is taken apart at its quotes, which copies nothing.
 */
function* escapedParts(line: string, kids: Set<string>): Generator<string, void, undefined> {
  if (!canonicalLine.test(line)) {
    for (const kid of recipientsOf(line)) kids.add(kid)
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

/** Without its quotes, escaped text is the same in one piece or in many: no line ends within a character. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Read off the stored line itself, whatever stands there. */
function recipientsOf(line: string): string[] {
  try {
    const { recipients } = JSON.parse(line) as { recipients?: { header?: { kid?: string } }[] }
    return Array.isArray(recipients) ? recipients.map(({ header }) => header?.kid ?? 'unnamed') : ['unnamed']
  } catch {
    return ['unnamed']
  }
}
