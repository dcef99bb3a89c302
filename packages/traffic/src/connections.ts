import type { QueryResult, ReadColumn } from './postgres/answer.ts'
import { Connection } from './postgres/connection.ts'
import { isConnectionLost } from './database-errors.ts'
import { Overloaded } from './overloaded.ts'
import { timeouts } from './timeouts.ts'

type Use = 'statement' | 'transaction'

interface Waiting {
  use: Use
  resolve: (connection: Connection) => void
  reject: (error: unknown) => void
  timer: NodeJS.Timeout
}

interface ConnectionsOptions {
  url: string
  max: number
  /** How long one statement may take at the client; the server ends it earlier. Absent: as in `timeouts`. */
  answerMs?: number
  /** How long a connection may be idle before it is closed; absent: a minute. */
  idleMs?: number
  readColumn?: ReadColumn
  /** Called when an idle connection breaks; it is replaced when the next one is needed. */
  onError: (error: Error) => void
}

/** A connection for several statements. `release(true)` closes it, because it was changed. */
export interface Borrowed extends Pick<Connection, 'query'> {
  release(isSpent?: boolean): void
}

/** Beyond these, whoever asks for a connection is refused at once; beyond fewer while no connection comes back. */
const maxWaiting = 500

/**
 * The connections to PostgreSQL: a limited number, and in front of them a queue with a limit and a timeout. Transactions, which hold a connection
 * over several round trips and may wait for locks, leave some of them to single statements. While the database does not answer, only one connection
 * at a time is tried: a crowd of connections that nobody needs any more does not follow the end of its silence.
 */
export class Connections {
  readonly #max: number
  readonly #maxTransactions: number
  readonly #open: () => Promise<Connection>
  readonly #onError: (error: Error) => void
  readonly #uses = new Map<Connection, Use>()
  /** The one that was used last is the last, and is taken first. */
  #idle: { connection: Connection; sinceMs: number }[] = []
  readonly #idleCheck: NodeJS.Timeout
  #waiting: Waiting[] = []
  #taken = 0
  #transactions = 0
  #connecting = 0
  #silent = false
  /** When a connection was last taken or given back. */
  #movedAtMs = 0
  #end: PromiseWithResolvers<void> | undefined

  constructor({ url, max, answerMs = timeouts.answerMs, idleMs = 60_000, readColumn, onError }: ConnectionsOptions) {
    this.#max = max
    this.#maxTransactions = Math.max(1, Math.floor(max * 0.6))
    this.#onError = onError
    const settings = {
      timezone: 'UTC',
      // A role or a database may have another one.
      datestyle: 'ISO',
      statement_timeout: Math.round((answerMs * timeouts.statementMs) / timeouts.answerMs),
      lock_timeout: timeouts.lockMs,
      idle_in_transaction_session_timeout: timeouts.idleTransactionMs,
    }
    const options = { url, connectMs: timeouts.connectionMs, answerMs, settings, ...(readColumn ? { readColumn } : {}) }
    this.#open = () => Connection.open(options)
    this.#idleCheck = setInterval(() => this.#closeIdle(idleMs), Math.min(idleMs, 5_000)).unref()
  }

  /** How many requests wait for a connection. */
  get waitingCount(): number {
    return this.#waiting.length
  }

  get idleCount(): number {
    return this.#idle.length
  }

  /** Those in use or being opened, and the idle ones. */
  get totalCount(): number {
    return this.#taken + this.#idle.length
  }

  /** A connection, to be given back by release. Throws Overloaded when there is none in time. */
  acquire(use: Use): Promise<Connection> {
    if (this.#end) return Promise.reject(new Error('the connections to the database are closed'))
    if (this.#waiting.length === 0 && this.#mayTake(use)) return this.#take(use)
    const isStalled = this.#silent || performance.now() - this.#movedAtMs > timeouts.stalledMs
    if (this.#waiting.length >= (isStalled ? this.#max : maxWaiting))
      return Promise.reject(new Overloaded('too many wait for a database connection'))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(new Overloaded('no database connection was free in time'))
      }, timeouts.connectionMs)
      const waiting = { use, resolve, reject, timer }
      this.#waiting.push(waiting)
      this.#serve()
    })
  }

  /** One that is lost, spent, still in a transaction or not yet answered is closed and not given to the next. */
  release(connection: Connection, isSpent = false): void {
    const use = this.#uses.get(connection)
    if (!use) throw new Error('the connection was released before')
    this.#uses.delete(connection)
    if (!connection.isOpen) this.#silent = true
    if (connection.isIdle && !isSpent && !this.#end) {
      this.#idle.push({ connection, sinceMs: performance.now() })
      this.#giveBack(use)
    } else if (this.#end) void connection.end().then(() => this.#giveBack(use))
    else {
      void connection.end()
      this.#giveBack(use)
    }
  }

  /** One statement, on any connection. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a caller who does not name its row reads what it selected
  async query<Row extends object = any>(text: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    const connection = await this.acquire('statement')
    try {
      return await connection.query<Row>(text, values)
    } finally {
      this.release(connection)
    }
  }

  async connect(): Promise<Borrowed> {
    const connection = await this.acquire('transaction')
    return {
      query: connection.query.bind(connection),
      release: (isSpent) => this.release(connection, isSpent),
    }
  }

  /** Closes the idle connections and refuses new requests. Resolves when those in use have been released and closed too. */
  end(): Promise<void> {
    if (this.#end) return this.#end.promise
    this.#end = Promise.withResolvers()
    clearInterval(this.#idleCheck)
    for (const { reject, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer)
      reject(new Error('the connections to the database are closed'))
    }
    void this.#endAll()
    return this.#end.promise
  }

  async #endAll(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map(({ connection }) => connection.end()))
    if (this.#taken === 0) this.#end!.resolve()
  }

  #closeIdle(idleMs: number): void {
    const now = performance.now()
    while (this.#idle[0] && now - this.#idle[0].sinceMs > idleMs) void this.#idle.shift()!.connection.end()
  }

  #lose(connection: Connection, error: Error): void {
    const left = this.#idle.filter((idle) => idle.connection !== connection)
    if (left.length === this.#idle.length) return // in use: its query fails
    this.#idle = left
    this.#onError(error)
  }

  #giveBack(use: Use): void {
    this.#taken--
    this.#movedAtMs = performance.now()
    if (use === 'transaction') this.#transactions--
    if (this.#end && this.#taken === 0) void this.#endAll()
    this.#serve()
  }

  #mayTake(use: Use): boolean {
    if (this.#taken >= this.#max) return false
    if (use === 'transaction' && this.#transactions >= this.#maxTransactions) return false
    return !this.#silent || this.#idle.length > 0 || this.#connecting === 0
  }

  #serve(): void {
    let i = 0
    while (i < this.#waiting.length && this.#taken < this.#max) {
      const { use, resolve, reject, timer } = this.#waiting[i]!
      // A statement may pass transactions that wait for each other.
      if (!this.#mayTake(use)) {
        i++
        continue
      }
      this.#waiting.splice(i, 1)
      clearTimeout(timer)
      this.#take(use).then(resolve, reject)
    }
  }

  async #take(use: Use): Promise<Connection> {
    this.#taken++
    this.#movedAtMs = performance.now()
    if (use === 'transaction') this.#transactions++
    try {
      const connection = this.#idle.pop()?.connection ?? (await this.#connect())
      this.#uses.set(connection, use)
      return connection
    } catch (error) {
      if (isConnectionLost(error)) this.#silent = true
      this.#giveBack(use)
      throw error
    }
  }

  async #connect(): Promise<Connection> {
    this.#connecting++
    let connection: Connection
    try {
      connection = await this.#open()
    } finally {
      this.#connecting--
    }
    connection.onLost = (error) => this.#lose(connection, error)
    this.#silent = false
    if (this.#waiting.length > 0) this.#serve()
    return connection
  }
}
