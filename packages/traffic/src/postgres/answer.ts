import {
  type BackendMessage,
  CommandCompleteMessage,
  DatabaseError,
  DataRowMessage,
  type Field,
  RowDescriptionMessage,
} from 'pg-protocol/dist/messages.js'
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

const withoutContent = new Set<BackendMessage['name']>(['parseComplete', 'bindComplete', 'noData', 'emptyQuery'])

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

  /**
   * Takes one message of the server ("Message Flow" in the documentation of the protocol). Throws where it does not belong to an answer, which ends
   * the connection. COPY is not supported, so its messages do not belong.
   */
  take(message: BackendMessage): void {
    if (message instanceof DataRowMessage) return this.#takeRow(message.fields)
    if (message instanceof RowDescriptionMessage) {
      this.#rows = []
      this.#readRow = makeReadRow(message.fields, this.#readColumn)
    } else if (message instanceof CommandCompleteMessage) {
      this.#tag = message.text
      // Of several statements in a query, the last gives the rows, also where it has none.
      if (!this.#readRow) this.#rows = []
      this.#readRow = undefined
    } else if (message instanceof DatabaseError) {
      // What the parser cannot read comes as an error without a code.
      if (sqlStateOf(message) === undefined) throw message
      this.error ??= message
    } else if (!withoutContent.has(message.name))
      throw new ConnectionLost(`the database sent ${message.name}, which answers no query`)
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

function makeReadRow(fields: readonly Field[], readColumn: ReadColumn): ReadRow {
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
