/** One message of the server; those that Atrium has no use for have a name only. */
export type ServerMessage =
  | { name: 'dataRow'; texts: (string | null)[] }
  | { name: 'rowDescription'; columns: Column[] }
  | { name: 'commandComplete'; tag: string }
  | { name: 'readyForQuery'; status: string }
  | { name: 'notification'; payload: string }
  | { name: 'copyData'; data: Buffer }
  | { name: 'authenticationMD5Password'; salt: Buffer }
  | { name: 'authenticationSASL'; mechanisms: string[] }
  | { name: 'authenticationSASLContinue' | 'authenticationSASLFinal'; data: string }
  | { name: (typeof namesOnly)[keyof typeof namesOnly] | 'authenticationOk' | 'authenticationCleartextPassword' }
  | DatabaseError

export interface Column {
  name: string
  /** The OID of its type (pg_type). */
  typeId: number
}

const namesOnly = {
  1: 'parseComplete',
  2: 'bindComplete',
  3: 'closeComplete',
  c: 'copyDone',
  G: 'copyInResponse',
  H: 'copyOutResponse',
  I: 'emptyQuery',
  K: 'backendKeyData',
  n: 'noData',
  N: 'notice',
  s: 'portalSuspended',
  S: 'parameterStatus',
  t: 'parameterDescription',
  W: 'replicationStart',
} as const

/** By the letter that a field has in the message. */
const errorFields: Readonly<Record<string, string>> = {
  S: 'severity',
  C: 'code',
  D: 'detail',
  H: 'hint',
  P: 'position',
  p: 'internalPosition',
  q: 'internalQuery',
  W: 'where',
  s: 'schema',
  t: 'table',
  c: 'column',
  d: 'dataType',
  n: 'constraint',
  F: 'file',
  L: 'line',
  R: 'routine',
}

/** An error of PostgreSQL, with its SQLSTATE as `code`. */
class DatabaseError extends Error {
  override readonly name = 'error'
}

/** The type of a message and its length, which counts itself and not the type. */
const headBytes = 5

/**
 * Reads the messages of a server in the protocol 3.0 of PostgreSQL ("Message Formats" in its documentation), however
 * the network divides them.
 */
export class ServerMessages {
  /** What has arrived of a message that is not complete. It is joined once, when `#needed` bytes are there. */
  #pieces: Buffer[] = []
  #size = 0
  #needed = headBytes

  read(piece: Buffer, take: (message: ServerMessage) => void): void {
    this.#pieces.push(piece)
    this.#size += piece.length
    if (this.#size < this.#needed) return
    const bytes = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces, this.#size)
    const reader = new Reader(bytes)
    let start = 0
    let needed = headBytes
    for (;;) {
      const left = bytes.length - start
      needed = left < headBytes ? headBytes : 1 + bytes.readUInt32BE(start + 1)
      if (left < needed) break
      const type = String.fromCharCode(bytes[start] ?? 0)
      reader.at = start + headBytes
      start += needed
      take(readMessage(reader, type, start))
    }
    this.#needed = needed
    this.#pieces = start < bytes.length ? [bytes.subarray(start)] : []
    this.#size = bytes.length - start
  }
}

function readMessage(reader: Reader, type: string, end: number): ServerMessage {
  switch (type) {
    case 'D':
      return { name: 'dataRow', texts: readTexts(reader) }
    case 'T':
      return { name: 'rowDescription', columns: reader.list(() => readColumn(reader)) }
    case 'C':
      return { name: 'commandComplete', tag: reader.text() }
    case 'Z':
      return { name: 'readyForQuery', status: reader.string(end) }
    case 'E':
      return readError(reader)
    case 'A':
      // After the process that notifies, and the channel.
      reader.at += 4
      reader.text()
      return { name: 'notification', payload: reader.text() }
    case 'd':
      return { name: 'copyData', data: reader.rest(end) }
    case 'R':
      return readAuthentication(reader, end)
    default:
      if (type in namesOnly) return { name: namesOnly[type as keyof typeof namesOnly] }
      throw new Error(`received invalid response: ${type.charCodeAt(0).toString(16)}`)
  }
}

function readTexts(reader: Reader): (string | null)[] {
  // Not with `list`: most messages are rows, and calls for each value take more time.
  const { bytes } = reader
  const texts: (string | null)[] = []
  let at = reader.at + 2
  for (let left = bytes.readInt16BE(reader.at); left > 0; left--) {
    const size = bytes.readInt32BE(at)
    at += 4
    // A length of -1 is null.
    texts.push(size === -1 ? null : bytes.toString('utf8', at, (at += size)))
  }
  return texts
}

function readColumn(reader: Reader): Column {
  const name = reader.text()
  // 6 bytes come before the type (table, column number) and 8 after it (type size, type modifier, format).
  const typeId = reader.bytes.readUInt32BE(reader.at + 6)
  reader.at += 18
  return { name, typeId }
}

function readError(reader: Reader): DatabaseError {
  let message = ''
  const fields: Record<string, string> = {}
  for (let field = reader.text(); field !== ''; field = reader.text()) {
    const [letter = '', value] = [field[0], field.slice(1)]
    const name = errorFields[letter]
    if (letter === 'M') message = value
    else if (name !== undefined) fields[name] = value
  }
  return Object.assign(new DatabaseError(message), fields)
}

function readAuthentication(reader: Reader, end: number): ServerMessage {
  const kind = reader.int32()
  switch (kind) {
    case 0:
      return { name: 'authenticationOk' }
    case 3:
      return { name: 'authenticationCleartextPassword' }
    case 5:
      return { name: 'authenticationMD5Password', salt: reader.rest(end) }
    case 10:
      return { name: 'authenticationSASL', mechanisms: reader.string(end).split('\0') }
    case 11:
      return { name: 'authenticationSASLContinue', data: reader.string(end) }
    case 12:
      return { name: 'authenticationSASLFinal', data: reader.string(end) }
    default:
      throw new Error(`Unknown authenticationOk message type ${kind}`)
  }
}

class Reader {
  at = 0
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  int32(): number {
    this.at += 4
    return this.bytes.readInt32BE(this.at - 4)
  }

  /** A text that a zero byte ends. */
  text(): string {
    let end = this.at
    while (this.bytes[end]) end++
    const text = this.string(end)
    this.at++
    return text
  }

  string(end: number): string {
    const start = this.at
    this.at = end
    return this.bytes.toString('utf8', start, end)
  }

  rest(end: number): Buffer {
    return this.bytes.subarray(this.at, end)
  }

  /** Items after their number. */
  list<Item>(read: () => Item): Item[] {
    const items: Item[] = []
    items.length = this.bytes.readInt16BE(this.at)
    this.at += 2
    for (let i = 0; i < items.length; i++) items[i] = read()
    return items
  }
}
