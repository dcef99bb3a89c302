import type * as protocol from 'pg-protocol/dist/messages.js'
import { ConnectionLost, sqlStateOf } from '../database-errors.ts'

/** Gives the parser for the text form of a type, by its OID (pg_type). */
export type ReadColumn = (oid: number) => (text: string) => unknown

export interface QueryResult<Row> {
  rows: Row[]
  /** Of the command tag; null where the command counts no rows. */
  rowCount: number | null
  /** The first word of the command tag, such as INSERT; undefined for an empty query. */
  command: string | undefined
}

interface ReadRow {
  /** Of the columns. */
  length: number
  read(texts: readonly (string | null)[]): object
}

/** What the server answers to one query, message by message. It is settled when the server is ready for the next. */
export class Answer {
  /** The name of the statement that it prepares, until the server has accepted or refused that. */
  prepares: string | undefined
  error: unknown
  timer: NodeJS.Timeout | undefined
  readonly #readColumn: ReadColumn
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
  ) {
    this.#readColumn = readColumn
    this.prepares = prepares
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Throws where the message does not belong to an answer, which ends the connection. COPY is not supported, so its messages do not belong. */
  take(message: protocol.BackendMessage): void {
    switch (message.name) {
      case 'parseComplete':
      case 'bindComplete':
      case 'noData':
      case 'emptyQuery':
        return
      case 'rowDescription':
        this.#rows = []
        this.#readRow = makeReadRow((message as protocol.RowDescriptionMessage).fields, this.#readColumn)
        return
      case 'dataRow':
        return this.#takeRow((message as protocol.DataRowMessage).fields as (string | null)[])
      case 'commandComplete':
        this.#tag = (message as protocol.CommandCompleteMessage).text
        if (!this.#readRow) this.#rows = []
        this.#readRow = undefined
        return
      case 'error':
        // What the parser cannot read comes as an error without a code.
        if (sqlStateOf(message) === undefined) throw message as unknown as Error
        this.error ??= message
        return
      default:
        throw new ConnectionLost(`the database sent ${message.name}, which answers no query`)
    }
  }

  settle(): void {
    clearTimeout(this.timer)
    if (this.error !== undefined) return this.#reject(this.error)
    // INSERT 0 5, SELECT 5, BEGIN, CREATE TABLE
    const [, command, count] = /^([A-Z]+)?(?:.* (\d+))?/.exec(this.#tag) ?? []
    this.#resolve({ rows: this.#rows, rowCount: count === undefined ? null : Number(count), command })
  }

  /** The connection was lost. What the server said before that comes first. */
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
      // One value that its parser refuses fails the query and leaves the connection usable.
      this.error = error
    }
  }
}

function makeReadRow(fields: readonly protocol.Field[], readColumn: ReadColumn): ReadRow {
  const columns = fields.map(({ name, dataTypeID }) => ({ name, parse: readColumn(dataTypeID) }))
  // Copied for each row, so that all have one shape.
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
