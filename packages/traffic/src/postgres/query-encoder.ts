import { ClientMessages } from './client-messages.ts'

export interface Query {
  text: string
  values?: readonly unknown[]
  /** Makes it a prepared statement, which each connection parses and plans once. A name always has the same text. */
  name?: string
  /** Without an answer in this time the connection is closed. Infinity: no limit. Absent: as for the connection. */
  timeoutMs?: number
  /** For COPY … TO STDOUT: receives the data, which is valid only during the call. `pause` slows the server down. */
  onCopyData?: (data: Buffer) => void
  /** For COPY … FROM STDIN: the data. If it fails, the query fails, and nothing is copied. */
  copyData?: AsyncIterable<Buffer>
}

export interface Encoded {
  message: Buffer
  /** The name of the statement that it prepares. */
  prepares?: string
}

/** Constants of the code, which are not escaped. */
export type Settings = Readonly<Record<string, string | number>>

const settingsName = 'settings'

/** Writes queries as messages of the protocol, and knows which statements the connection has prepared. */
export class QueryEncoder {
  /** Prepared statements by name: their text, and whether the server has accepted it. */
  readonly #statements = new Map<string, { text: string; isParsed: boolean }>()
  /** Sent with each transaction. undefined: the session has them. */
  readonly #settings: string | undefined
  /** Whether a name leads to the same statement in every transaction. */
  #keepsNames: boolean

  /** `settings`: those of each transaction, if a pooler chooses the session for each transaction. */
  constructor(settings?: Settings) {
    this.#settings = settings && settingsOfTransaction(settings)
    this.#keepsNames = settings === undefined
  }

  /**
   * `isWithin`: whether the query belongs to a transaction that has begun already. Any other query gets the settings
   * before it, in the same message: they cost no round trip, and end with its transaction.
   */
  encode({ text, values = [], name: asked }: Query, isWithin: boolean): Encoded {
    const settings = isWithin ? undefined : this.#settings
    if (asked === undefined && values.length === 0)
      return { message: new ClientMessages().query(withSettings(text, settings)).bytes }
    const name = this.#keepsNames ? asked : undefined
    const known = name === undefined ? undefined : this.#statements.get(name)
    if (known && known.text !== text) throw new Error(`two different statements have the name ${name}`)
    // The server may still reject a statement that it has not answered: until then the same text is sent without a
    // name.
    const statement = name === undefined || known?.isParsed === false ? '' : name
    const messages = new ClientMessages()
    if (settings !== undefined) this.#addSettings(messages, settings)
    if (!known?.isParsed) messages.parse(statement, text)
    const message = messages.bind(statement, values).describe().execute().sync().bytes
    if (known?.isParsed || statement === '') return { message }
    this.#statements.set(statement, { text, isParsed: false })
    return { message, prepares: statement }
  }

  /** The server has accepted or rejected a statement that a query prepared. */
  settle(name: string, isParsed: boolean): void {
    const statement = this.#statements.get(name)
    if (statement && isParsed) statement.isParsed = true
    else this.#statements.delete(name)
  }

  /**
   * Prepares a statement under this name, which finds out whether PostgreSQL has the same name for it. The statement is
   * closed at once, because the session's next transaction may be another client's.
   */
  encodeProbe(name: string): Encoded {
    const text = 'select from pg_prepared_statements where name = $1'
    return { message: new ClientMessages().parse(name, text).bind(name, [name]).describe().execute().close(name).sync().bytes }
  }

  /** Prepares the settings too. From now on statements keep their names. */
  encodeFirstNamed(): Encoded {
    this.#keepsNames = true
    return this.encode({ name: settingsName, text: this.#settings ?? '' }, true)
  }

  #addSettings(messages: ClientMessages, text: string): void {
    if (!this.#keepsNames) messages.parse('', text)
    messages.bind(this.#keepsNames ? settingsName : '', []).execute()
  }
}

/** `set local` would give a warning for each query outside a transaction block. */
function settingsOfTransaction(settings: Settings): string {
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true) is null`)
  // set_config returns the value and never null. So every call is made, and there is no row.
  return `select 1 where ${calls.join(' or ') || 'false'}`
}

/** In one message, several statements are one transaction. A transaction that begins in it gets the settings first. */
function withSettings(text: string, settings: string | undefined): string {
  if (settings === undefined) return text
  return /^begin\b/.test(text) ? text.replace(/^[^;]*/, (begin) => `${begin}; ${settings}`) : `${settings}; ${text}`
}
