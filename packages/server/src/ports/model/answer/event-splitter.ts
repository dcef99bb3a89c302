import { EgressError } from '#ports/egress/egress-error.ts'

const lineFeed = 0x0a
const carriageReturn = 0x0d
const dataField = Buffer.from('data')
const colon = 0x3a
const space = 0x20
const byteOrderMark = Buffer.from('\uFEFF')

/**
 * Splits a stream of server-sent events, however it is cut into pieces: in linear time, with at most one event in
 * memory. Returns only `data`, which is JSON: its lines are joined by a space. Comments and all other fields are
 * dropped, because providers repeat the type of an event in its JSON.
 */
export class EventSplitter {
  readonly #maxBytes: number
  #line: Buffer[] = []
  #lineBytes = 0
  #data: Buffer[] = []
  #dataBytes = 0
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
        this.#keep(bytes.subarray(from, i))
        const event = this.#endLine()
        if (event) yield event
      }
      from = i + 1
    }
    this.#keep(bytes.subarray(from))
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return
    this.#lineBytes += part.length
    if (this.#lineBytes + this.#dataBytes > this.#maxBytes)
      throw new EgressError('protocol', 'The answer has an event that is too long.')
    this.#line.push(part)
  }

  #endLine(): Buffer | undefined {
    const [first, ...others] = this.#line
    let line = first && others.length === 0 ? first : Buffer.concat(this.#line)
    this.#line = []
    this.#lineBytes = 0
    if (this.#isFirstLine && line.subarray(0, 3).equals(byteOrderMark)) line = line.subarray(3)
    this.#isFirstLine = false
    if (line.length === 0) return this.#endEvent()
    const data = dataOf(line)
    if (data) {
      this.#data.push(data)
      // The memory of a line, even of an empty one.
      this.#dataBytes += data.length + 1
    }
    return undefined
  }

  #endEvent(): Buffer | undefined {
    if (this.#data.length === 0) return undefined
    const lines = this.#data
    this.#data = []
    this.#dataBytes = 0
    if (lines.length === 1) return lines[0]
    return Buffer.concat(lines.flatMap((line, i) => (i === 0 ? [line] : [Buffer.of(space), line])))
  }
}

function dataOf(line: Buffer): Buffer | undefined {
  const end = line.indexOf(colon)
  if (!line.subarray(0, end < 0 ? line.length : end).equals(dataField)) return undefined
  if (end < 0) return Buffer.alloc(0)
  return line.subarray(line[end + 1] === space ? end + 2 : end + 1)
}
