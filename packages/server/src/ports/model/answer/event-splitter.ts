import { JoinedPieces } from '@atrium/contract/joined-pieces'
import { EgressError } from '#ports/egress/egress-error.ts'

const lineFeed = 0x0a
const carriageReturn = 0x0d
const dataField = Buffer.from('data')
const colon = 0x3a
const space = 0x20
const separator = Buffer.of(space)
const byteOrderMark = Buffer.from('\uFEFF')

/**
 * Splits a stream of server-sent events, however it is cut into pieces: in linear time, with at most one event in
 * memory. Returns only `data`, which is JSON: its lines are joined by a space. Comments and all other fields are
 * dropped, because providers repeat the type of an event in its JSON.
 */
export class EventSplitter {
  readonly #maxBytes: number
  /** The beginning of a line whose end has not arrived. */
  readonly #line = new JoinedPieces()
  /** The data of the event, with a space after each line: so an empty line counts too. */
  readonly #data = new JoinedPieces()
  #afterReturn = false
  #isFirstLine = true

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The data of the events that end in this piece. @throws EgressError protocol */
  *take(piece: Uint8Array): Generator<Buffer> {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    let from = 0
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]
      if (byte !== lineFeed && byte !== carriageReturn) {
        this.#afterReturn = false
        continue
      }
      // The second half of a CRLF does not end another line.
      const isHalf = byte === lineFeed && this.#afterReturn
      this.#afterReturn = byte === carriageReturn
      if (!isHalf) {
        const event = this.#endLine(bytes.subarray(from, i))
        if (event) yield event
      }
      from = i + 1
    }
    const rest = bytes.subarray(from)
    this.#assertRoom(rest)
    this.#line.add(rest)
  }

  #assertRoom(part: Buffer): void {
    if (this.#line.length + part.length + this.#data.length > this.#maxBytes)
      throw new EgressError('protocol', 'The answer has an event that is too long.')
  }

  #endLine(end: Buffer): Buffer | undefined {
    this.#assertRoom(end)
    let line = end
    if (this.#line.length > 0) {
      this.#line.add(end)
      line = this.#line.take()
    }
    if (this.#isFirstLine && line.subarray(0, 3).equals(byteOrderMark)) line = line.subarray(3)
    this.#isFirstLine = false
    if (line.length === 0) return this.#endEvent()
    const data = dataOf(line)
    if (data) {
      this.#data.add(data)
      this.#data.add(separator)
    }
    return undefined
  }

  #endEvent(): Buffer | undefined {
    return this.#data.length === 0 ? undefined : this.#data.take().subarray(0, -1)
  }
}

function dataOf(line: Buffer): Buffer | undefined {
  const end = line.indexOf(colon)
  if (!line.subarray(0, end < 0 ? line.length : end).equals(dataField)) return undefined
  if (end < 0) return Buffer.alloc(0)
  return line.subarray(line[end + 1] === space ? end + 2 : end + 1)
}
