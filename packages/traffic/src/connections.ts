import type { QueryResult, ReadColumn } from './postgres/answer.ts'
import { Connection } from './postgres/connection.ts'
import { ConnectionLost, isAnswerLost, isOutdated, isPassing, isReadOnly } from './database-errors.ts'
import { Overloaded } from './overloaded.ts'
import { timeouts } from './timeouts.ts'

type Use = 'statement' | 'transaction'

interface Waiting {
  use: Use
  resolve: (connection: Connection) => void
  reject: (error: unknown) => void
  timer: NodeJS.Timeout
}

export interface ConnectionsOptions {
  url: string
  max: number
  /** Whether the address may lead through a pooler in transaction mode, see `ConnectionOptions`. */
  isPooled?: boolean
  /** The time limit of one statement at the client; the server ends it earlier. Absent: as in `timeouts`. */
  answerMs?: number
  /** How long a connection may be idle before it is closed; absent: a minute. */
  idleMs?: number
  readColumn?: ReadColumn
  /** Called when an idle connection breaks. It is replaced when the next one is needed. */
  onError: (error: Error) => void
}

/** A connection for several statements. `release(true)` closes it, because its settings were changed. */
export interface Borrowed extends Pick<Connection, 'query'> {
  release(isSpent?: boolean): void
}

/**
 * The largest queue for a connection: further requests are rejected at once. While no connection is returned, the
 * queue holds only as many as there are connections.
 */
const maxWaiting = 500

/**
 * The connections to PostgreSQL: a limited number, with a bounded queue and a timeout in front of them. Transactions
 * hold a connection over several round trips and may wait for locks, so some connections are reserved for single
 * statements. While the database does not answer, only one connection at a time is attempted: otherwise the end of
 * the outage would be followed by many connections that nobody needs any more.
 */
export class Connections {
  readonly #max: number
  readonly #maxTransactions: number
  readonly #open: () => Promise<Connection>
  readonly #onError: (error: Error) => void
  readonly #uses = new Map<Connection, Use>()
  /** The most recently used connection is last, and is used first. */
  #idle: { connection: Connection; sinceMs: number }[] = []
  readonly #idleCheck: NodeJS.Timeout
  #waiting: Waiting[] = []
  #taken = 0
  #transactions = 0
  #connecting = 0
  #silent = false
  /** Whether statements may have names. False once a pooler had a session with an outdated plan. */
  #mayName = true
  /** When a connection was last taken or returned. */
  #movedAtMs = 0
  #end: PromiseWithResolvers<void> | undefined

  constructor({ max, answerMs = timeouts.answerMs, idleMs = 60_000, onError, ...options }: ConnectionsOptions) {
    this.#max = max
    this.#maxTransactions = Math.max(1, Math.floor(max * 0.6))
    this.#onError = onError
    const settings = {
      timezone: 'UTC',
      // A role or a database may have another setting.
      datestyle: 'ISO',
      default_transaction_isolation: 'read committed',
      array_nulls: 'on',
      statement_timeout: Math.round((answerMs * timeouts.statementMs) / timeouts.answerMs),
      lock_timeout: timeouts.lockMs,
      idle_in_transaction_session_timeout: timeouts.idleTransactionMs,
      idle_session_timeout: 0,
    }
    const terms = { ...options, connectMs: timeouts.connectionMs, answerMs, settings }
    this.#open = () => Connection.open({ ...terms, mayName: this.#mayName })
    this.#idleCheck = setInterval(() => this.#closeIdle(idleMs), Math.min(idleMs, 5_000)).unref()
  }

  /** How many requests wait for a connection. */
  get waitingCount(): number {
    return this.#waiting.length
  }

  get idleCount(): number {
    return this.#idle.length
  }

  /** The connections in use or being opened, and the idle ones. */
  get totalCount(): number {
    return this.#taken + this.#idle.length
  }

  /** Returns a connection, to be returned by release. Throws Overloaded if none is available in time. */
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

  /** A connection that is lost, spent, in a transaction or unanswered is closed and not reused. */
  release(connection: Connection, isSpent = false): void {
    const use = this.#uses.get(connection)
    if (!use) throw new Error('the connection was released before')
    this.#uses.delete(connection)
    if (!connection.isOpen) this.#silent = true
    if (isReadOnly(connection.fault)) this.#leaveServer()
    // A pooler keeps the outdated plans of its sessions for all clients, also for the next connection.
    if (isOutdated(connection.fault)) this.#mayName = false
    if (connection.isIdle && !isSpent && !this.#end) {
      this.#idle.push({ connection, sinceMs: performance.now() })
      this.#giveBack(use)
    } else if (this.#end) void connection.end().then(() => this.#giveBack(use))
    else {
      // A pooler keeps its session on a standby and gives it to later clients, so the session is ended on the server.
      const leave = 'select pg_terminate_backend(pg_backend_pid()) where pg_is_in_recovery()'
      const left = isReadOnly(connection.fault) ? connection.query(leave) : Promise.resolve()
      void left.catch(() => undefined).then(() => connection.end())
      this.#giveBack(use)
    }
  }

  /** Runs one statement on any connection. */
  async query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>> {
    const connection = await this.acquire('statement')
    try {
      return await connection.query<Row>(text, values)
    } finally {
      this.release(connection)
    }
  }

  async connect(): Promise<Borrowed> {
    const connection = await this.acquire('transaction')
    return { query: connection.query.bind(connection), release: (isSpent) => this.release(connection, isSpent) }
  }

  /**
   * Closes the idle connections and rejects new requests. Resolves when those in use have been released and closed
   * too.
   */
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
    if (this.#taken === 0) this.#end?.resolve()
  }

  #closeIdle(idleMs: number): void {
    const now = performance.now()
    const long = this.#idle.filter(({ sinceMs }) => now - sinceMs > idleMs).length
    for (const { connection } of this.#idle.splice(0, long)) void connection.end()
  }

  /** The idle connections lead to the same standby. The next one may lead to the new primary. */
  #leaveServer(): void {
    this.#silent = true
    for (const { connection } of this.#idle.splice(0)) void connection.end()
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
    while (this.#taken < this.#max) {
      const waiting = this.#waiting[i]
      if (!waiting) return
      const { use, resolve, reject, timer } = waiting
      // A single statement may overtake transactions that wait for each other.
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
      // Also where a pooler, or PostgreSQL while it starts, answers only that nobody can log in now.
      if (isAnswerLost(error)) this.#silent = true
      this.#giveBack(use)
      throw error
    }
  }

  async #connect(): Promise<Connection> {
    this.#connecting++
    let connection: Connection
    try {
      connection = await this.#open()
    } catch (error) {
      // The password or the certificate was changed, or the role or the database admits nobody now. The address worked
      // when the process started, so this is an outage like any other, and no fault of the statement.
      throw isPassing(error)
        ? error
        : new ConnectionLost(`the database refuses the connection: ${(error as Error).message}`, { cause: error })
    } finally {
      this.#connecting--
    }
    connection.onLost = (error) => this.#lose(connection, error)
    this.#silent = false
    if (this.#waiting.length > 0) this.#serve()
    return connection
  }
}
