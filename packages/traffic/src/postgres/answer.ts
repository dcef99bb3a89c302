import type * as protocol from 'pg-protocol/dist/messages.js'

/** Gives the parser for the text form of a type, by its OID (pg_type). */
export type ReadColumn = (oid: number) => (text: string) => unknown

export interface QueryResult<Row> {
  rows: Row[]
  /** Of the command tag; null where the command counts no rows. */
  rowCount: number | null
  /** The first word of the command tag, such as INSERT; undefined for an empty query. */
  command: string | undefined
}

type ReadRow = (texts: readonly (string | null)[]) => object

/** What the server answers to one query, message by message. It is settled when the server is ready for the next. */
export class Answer {
  /** Of the prepared statement; undefined: it has none. */
  readonly name: string | undefined
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
    name: string | undefined,
    resolve: (result: QueryResult<object>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#readColumn = readColumn
    this.name = name
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Throws where the message does not belong to an answer. */
  take(message: protocol.BackendMessage): void {
    switch (message.name) {
      case 'rowDescription':
        this.#rows = []
        this.#readRow = makeReadRow((message as protocol.RowDescriptionMessage).fields, this.#readColumn)
        return
      case 'dataRow':
        return this.#takeRow((message as protocol.DataRowMessage).fields as (string | null)[])
      case 'commandComplete': {
        this.#tag = (message as protocol.CommandCompleteMessage).text
        if (!this.#readRow) this.#rows = []
        this.#readRow = undefined
        return
      }
      case 'error':
        // What the parser cannot read comes as an error without a code.
        if ((message as unknown as protocol.DatabaseError).code === undefined) throw message as unknown as Error
        this.error ??= message
    }
  }

  settle(): void {
    clearTimeout(this.timer)
    if (this.error !== undefined) return this.#reject(this.error)
    const words = this.#tag.split(' ')
    const count = words.at(-1)!
    this.#resolve({
      rows: this.#rows,
      rowCount: /^\d+$/.test(count) ? Number(count) : null,
      command: words[0] || undefined,
    })
  }

  /** The connection was lost. What the server said before that comes first. */
  fail(error: Error): void {
    clearTimeout(this.timer)
    this.#reject(this.error ?? error)
  }

  #takeRow(texts: readonly (string | null)[]): void {
    if (this.error !== undefined) return
    try {
      this.#rows.push(this.#readRow!(texts))
    } catch (error) {
      // One value that its parser refuses fails the query and leaves the connection usable.
      this.error = error
    }
  }
}

function makeReadRow(fields: readonly protocol.Field[], readColumn: ReadColumn): ReadRow {
  const names = fields.map((field) => field.name)
  const parsers = fields.map((field) => readColumn(field.dataTypeID))
  // Copied for each row, so that all have one shape.
  const empty: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, null]))
  return (texts) => {
    const row = { ...empty }
    for (let i = 0; i < texts.length; i++) {
      const text = texts[i]
      if (text !== null) row[names[i]!] = parsers[i]!(text!)
    }
    return row
  }
}
