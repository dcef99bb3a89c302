import pg from 'pg'
import { isConnectionLost } from './database-errors.ts'
import { Overloaded } from './overloaded.ts'
import { patience } from './patience.ts'

type Use = 'statement' | 'transaction'

interface Waiting {
  use: Use
  resolve: (client: pg.PoolClient) => void
  reject: (error: unknown) => void
  timer: NodeJS.Timeout
}

interface ConnectionsOptions {
  url: string
  max: number
  /** How long one statement may take at the client; the server ends it before. Absent: as in patience. */
  answerMs?: number
  types?: pg.CustomTypesConfig
  onError: (error: Error) => void
}

/** Beyond these, who asks for a connection is refused at once; beyond fewer while no connection comes back. */
const maxWaiting = 500

const ignore = () => undefined

/**
 * The connections to PostgreSQL: a limited number, and a limited queue for them with a limited time in it. Transactions, which hold a connection
 * over several round trips and may wait for locks, leave some of them to single statements. While the database does not answer, one
 * connection at a time is tried: so that the end of its silence is not followed by a crowd of connections that nobody wants any more.
 */
export class Connections {
  readonly pool: pg.Pool
  readonly #max: number
  readonly #maxTransactions: number
  readonly #uses = new Map<pg.PoolClient, Use>()
  #waiting: Waiting[] = []
  #taken = 0
  #transactions = 0
  #connecting = 0
  #silent = false
  /** When a connection was last taken or given back. */
  #movedAtMs = 0

  constructor({ url, max, answerMs = patience.answerMs, types, onError }: ConnectionsOptions) {
    this.#max = max
    this.#maxTransactions = Math.max(1, Math.floor(max * 0.6))
    const statementMs = Math.round((answerMs * patience.statementMs) / patience.answerMs)
    this.pool = new pg.Pool({
      connectionString: url,
      max,
      connectionTimeoutMillis: patience.connectionMs,
      query_timeout: answerMs,
      idleTimeoutMillis: 60_000,
      options: [
        'timezone=UTC',
        `statement_timeout=${statementMs}`,
        `lock_timeout=${patience.lockMs}`,
        `idle_in_transaction_session_timeout=${patience.idleTransactionMs}`,
      ]
        .map((setting) => `-c ${setting}`)
        .join(' '),
      ...(types ? { types } : {}),
    })
    // Without a listener an idle connection that breaks would end the process.
    this.pool.on('error', onError)
  }

  /** How many wait for a connection. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** A connection, to be given back by release. Throws Overloaded when there is none in time. */
  acquire(use: Use): Promise<pg.PoolClient> {
    if (this.#waiting.length === 0 && this.#mayTake(use)) return this.#take(use)
    const isStalled = this.#silent || performance.now() - this.#movedAtMs > patience.stalledMs
    if (this.#waiting.length >= (isStalled ? this.#max : maxWaiting))
      return Promise.reject(new Overloaded('too many wait for a database connection'))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(new Overloaded('no database connection was free in time'))
      }, patience.connectionMs)
      const waiting = { use, resolve, reject, timer }
      this.#waiting.push(waiting)
      this.#serve()
    })
  }

  /** With the error that broke the connection it is thrown away, not given to the next. */
  release(client: pg.PoolClient, broken?: Error): void {
    const use = this.#uses.get(client)!
    this.#uses.delete(client)
    client.off('error', ignore)
    if (broken) this.#silent = true
    client.release(broken)
    this.#giveBack(use)
  }

  #giveBack(use: Use): void {
    this.#taken--
    this.#movedAtMs = performance.now()
    if (use === 'transaction') this.#transactions--
    this.#serve()
  }

  #mayTake(use: Use): boolean {
    if (this.#taken >= this.#max) return false
    if (use === 'transaction' && this.#transactions >= this.#maxTransactions) return false
    return !this.#silent || this.pool.idleCount > 0 || this.#connecting === 0
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

  async #take(use: Use): Promise<pg.PoolClient> {
    this.#taken++
    this.#movedAtMs = performance.now()
    if (use === 'transaction') this.#transactions++
    const connects = this.pool.idleCount === 0
    if (connects) this.#connecting++
    try {
      const client = await this.pool.connect()
      if (connects) this.#silent = false
      // The pool listens only while a connection is idle: one that is lost in use would end the process. Its query fails too.
      client.on('error', ignore)
      this.#uses.set(client, use)
      if (connects) this.#connecting--
      if (connects && this.#waiting.length > 0) this.#serve()
      return client
    } catch (error) {
      if (connects) this.#connecting--
      if (isConnectionLost(error)) this.#silent = true
      this.#giveBack(use)
      throw error
    }
  }
}
