import { ConnectionLost } from '../database-errors.ts'
import type { Column, ServerMessage } from './server-messages.ts'

/** Returns the parser for the text form of a type, by its OID (pg_type). */
export type ReadColumn = (oid: number) => (text: string) => unknown

export interface QueryResult<Row> {
  rows: Row[]
  /** From the command tag; null if the command counts no rows. */
  rowCount: number | null
  /** The first word of the command tag, such as INSERT; undefined for an empty query. */
  command: string | undefined
}

interface ReadRow {
  /** The types of the columns. */
  length: number
  read(texts: readonly (string | null)[]): object
}

/** The handlers of a COPY, see Query. */
export interface Copy {
  onData?: ((data: Buffer) => void) | undefined
  /** Called when the server is ready to receive. */
  send?: (() => void) | undefined
}

const withoutContent = new Set<ServerMessage['name']>(['parseComplete', 'bindComplete', 'closeComplete', 'noData', 'emptyQuery'])

/**
 * Collects the server's answer to one query, message by message. It is settled when the server is ready for the next
 * query.
 */
export class Answer {
  /** The name of the statement that the query prepares, until the server has accepted or rejected it. */
  prepares: string | undefined
  error: unknown
  timer: NodeJS.Timeout | undefined
  readonly #readColumn: ReadColumn
  readonly #copy: Copy
  readonly #resolve: (result: QueryResult<object>) => void
  readonly #reject: (error: unknown) => void
  #readRow: ReadRow | undefined
  #rows: object[] = []
  #tag = ''

  constructor(
    readColumn: ReadColumn,
    prepares: string | undefined,
    resolve: (result: QueryResult<object>) => void,
    reject: (error: unknown) => void,
    copy: Copy = {},
  ) {
    this.#copy = copy
    this.#readColumn = readColumn
    this.prepares = prepares
    this.#resolve = resolve
    this.#reject = reject
  }

  /**
   * Handles one message of the server ("Message Flow" in the documentation of the protocol). Throws for a message
   * that does not belong to an answer, which ends the connection. Messages of COPY are accepted only for a copy.
   */
  take(message: ServerMessage): void {
    if (message.name === 'dataRow') return this.#takeRow(message.texts)
    if (message.name === 'rowDescription') {
      this.#rows = []
      this.#readRow = makeReadRow(message.columns, this.#readColumn)
    } else if (message.name === 'commandComplete') {
      this.#tag = message.tag
      // If a query has several statements, the last one determines the rows, even if it has none.
      if (!this.#readRow) this.#rows = []
      this.#readRow = undefined
    } else if (message.name === 'error') this.error ??= message
    else if (!withoutContent.has(message.name) && !this.#takeCopy(message))
      throw new ConnectionLost(`the database sent ${message.name}, which answers no query`)
  }

  #takeCopy(message: ServerMessage): boolean {
    const { onData, send } = this.#copy
    if (message.name === 'copyInResponse' && send) send()
    else if (message.name === 'copyData' && onData) onData(message.data)
    else return onData !== undefined && (message.name === 'copyOutResponse' || message.name === 'copyDone')
    return true
  }

  settle(): void {
    clearTimeout(this.timer)
    if (this.error !== undefined) return this.#reject(this.error)
    // INSERT 0 5, SELECT 5, BEGIN, CREATE TABLE
    const [, command, count] = /^([A-Z]+)?(?:.* (\d+))?/.exec(this.#tag) ?? []
    this.#resolve({ rows: this.#rows, rowCount: count === undefined ? null : Number(count), command })
  }

  /** Fails the query because the connection was lost. An earlier error of the server takes precedence. */
  fail(error: Error): void {
    clearTimeout(this.timer)
    this.#reject(this.error ?? error)
  }

  #takeRow(texts: readonly (string | null)[]): void {
    const readRow = this.#readRow
    if (readRow?.length !== texts.length) throw new ConnectionLost('the database sent a row that is not as it described it')
    if (this.error !== undefined) return
    try {
      this.#rows.push(readRow.read(texts))
    } catch (error) {
      // A value that its parser rejects fails the query, and the connection stays usable.
      this.error = error
    }
  }
}

function makeReadRow(described: readonly Column[], readColumn: ReadColumn): ReadRow {
  const columns = described.map(({ name, typeId }) => ({ name, parse: readColumn(typeId) }))
  // A copy for each row, so that all rows have one shape.
  const empty: Record<string, unknown> = Object.fromEntries(columns.map(({ name }) => [name, null]))
  return {
    length: columns.length,
    read(texts) {
      const row = { ...empty }
      columns.forEach(({ name, parse }, i) => {
        const text = texts[i]
        if (typeof text === 'string') row[name] = parse(text)
      })
      return row
    },
  }
}
