import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { ConnectionLost, isConnectionLost, isMisplaced, sqlStateOf } from '../database-errors.ts'
import { Answer, type QueryResult, type ReadColumn } from './answer.ts'
import { ClientMessages } from './client-messages.ts'
import { type DatabaseAddress, readDatabaseAddress } from './database-address.ts'
import { type Login, startLogin } from './log-in.ts'
import { openSocket } from './open-socket.ts'
import { type Encoded, type Query, QueryEncoder, type Settings } from './query-encoder.ts'
import { type ServerMessage, ServerMessages } from './server-messages.ts'

export interface ConnectionOptions {
  /** postgresql://… */
  url: string
  /** Time limit for the socket, TLS and the login together. */
  connectMs: number
  /** Time limit for the answer of each query. */
  answerMs: number
  /** Settings of the session, which override those in the URL. */
  settings?: Settings
  /**
   * Whether the address may lead through a pooler that chooses a session for each transaction, such as PgBouncer in
   * transaction mode. The settings then belong to each transaction, and statements have names only if the pooler
   * keeps track of them.
   */
  isPooled?: boolean
  /** Whether statements may have names; absent: yes. */
  mayName?: boolean
  /** How columns become values, by the type's OID. Absent: they stay text. */
  readColumn?: ReadColumn
  /** Aborts the attempt to connect. */
  signal?: AbortSignal
}

interface LoginUnderWay {
  answer: Login
  done: () => void
  fail: (error: Error) => void
}

const textOnly: ReadColumn = () => (text) => text

/**
 * One connection to PostgreSQL (protocol 3.0). Queries are sent at once and answered in order. Any fault of the
 * connection itself closes it: of the network, a query without an answer in time, an unexpected message.
 */
export class Connection {
  /** Called once, when the connection ends without `end`. */
  onLost: ((error: Error) => void) | undefined
  onNotification: ((payload: string) => void) | undefined
  readonly #socket: Socket
  readonly #answerMs: number
  readonly #readColumn: ReadColumn
  readonly #messages = new ServerMessages()
  /** In the order in which they were sent. */
  readonly #answers: Answer[] = []
  readonly #encoder: QueryEncoder
  readonly #closed = Promise.withResolvers<void>()
  #login: LoginUnderWay | undefined
  #isOpen = true
  #isEnding = false
  #fault: unknown
  /** From the last ReadyForQuery: I outside of a transaction, T in one, E in one that failed. */
  #status = 'I'

  private constructor(socket: Socket, { answerMs, readColumn = textOnly, isPooled, settings = {} }: ConnectionOptions) {
    this.#socket = socket
    this.#encoder = new QueryEncoder(isPooled ? settings : undefined)
    this.#answerMs = answerMs
    this.#readColumn = readColumn
    const lost = () => this.#lose(new ConnectionLost('the database closed the connection'))
    socket.on('data', (bytes) => this.#read(bytes))
    socket.on('error', (error) => this.#lose(error))
    socket.on('close', () => {
      lost()
      this.#closed.resolve()
    })
    if (socket.destroyed) lost()
  }

  static async open(options: ConnectionOptions): Promise<Connection> {
    const address = readDatabaseAddress(options.url)
    const late = new AbortController()
    const timer = setTimeout(
      () => late.abort(new ConnectionLost('the database did not accept the connection in time')),
      options.connectMs,
    )
    const signal = options.signal ? AbortSignal.any([late.signal, options.signal]) : late.signal
    try {
      const connection = new Connection(await openSocket(address, signal), options)
      const abort = () => connection.#lose(signal.reason as Error)
      signal.addEventListener('abort', abort, { once: true })
      // The signal may have been aborted since the socket was ready; it emits no event then.
      if (signal.aborted) abort()
      try {
        await connection.#logIn(address)
        await (options.isPooled ? connection.#nameIfKept(options.mayName) : connection.#set(options.settings))
        return connection
      } catch (error) {
        void connection.end()
        throw error
      } finally {
        signal.removeEventListener('abort', abort)
      }
    } finally {
      clearTimeout(timer)
    }
  }

  /** Whether another query can be sent. */
  get isOpen(): boolean {
    return this.#isOpen && !this.#isEnding
  }

  /**
   * Whether the connection can be reused in its original state: nothing unanswered, no transaction, statements and
   * server as expected.
   */
  get isIdle(): boolean {
    return this.isOpen && this.#answers.length === 0 && this.#status === 'I' && this.#fault === undefined
  }

  /** The error that showed that another connection would work better (`isMisplaced`). */
  get fault(): unknown {
    return this.#fault
  }

  /**
   * Without a name and values this is one simple query, which may contain several statements; the result is that of
   * the last one.
   */
  query<Row extends object = Record<string, unknown>>(
    asked: string | Query,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>> {
    const query = typeof asked === 'string' ? { text: asked, ...(values ? { values } : {}) } : asked
    return this.#send<Row>(query, () => this.#encoder.encode(query, this.#status !== 'I'))
  }

  #send<Row extends object>(query: Partial<Query>, encode: () => Encoded): Promise<QueryResult<Row>> {
    return new Promise<QueryResult<Row>>((resolve, reject) => {
      if (!this.isOpen) throw new ConnectionLost('the connection to the database is closed')
      const { message, prepares } = encode()
      const { onCopyData: onData, copyData } = query
      const send = copyData && (() => void this.#sendCopy(answer, copyData))
      const settle = resolve as (result: QueryResult<object>) => void
      const answer: Answer = new Answer(this.#readColumn, prepares, settle, reject, { onData, send })
      // After a stall of this process, timers run first. An answer that has arrived meanwhile is read before it counts as late.
      const late = () =>
        setImmediate(() => {
          if (this.#answers.includes(answer)) this.#lose(new ConnectionLost('the database did not answer in time'))
        })
      const timeoutMs = query.timeoutMs ?? this.#answerMs
      if (timeoutMs !== Infinity) answer.timer = setTimeout(late, timeoutMs)
      this.#answers.push(answer)
      this.#socket.write(message)
    }).catch((error: Error) => {
      // The stack of the call, not of the socket's event.
      Error.captureStackTrace(error)
      throw error
    })
  }

  /** Stops reading from the server until `resume`, while the reader of a COPY cannot accept more. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Resolves when the socket is closed. Queries without an answer fail. */
  async end(): Promise<void> {
    this.#isEnding = true
    if (this.#answers.length > 0 || !this.#isOpen) this.#lose(new ConnectionLost('the connection to the database was ended'))
    else {
      this.#socket.end(new ClientMessages().terminate().bytes)
      // A server that vanished never closes its side.
      setTimeout(() => this.#socket.destroy(), 1_000).unref()
    }
    await this.#closed.promise
  }

  #logIn({ user, database, applicationName, options, password }: DatabaseAddress): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#login = { answer: startLogin({ user, password }), done: resolve, fail: reject }
    if (!this.#isOpen) reject(new ConnectionLost('the database closed the connection'))
    const parameters = {
      user,
      database,
      ...(applicationName ? { application_name: applicationName } : {}),
      ...(options ? { options } : {}),
    }
    this.#socket.write(new ClientMessages().startup(parameters).bytes)
    return promise
  }

  /**
   * Settings are not sent in the startup message, although that would save a round trip: PgBouncer rejects such
   * parameters there or, if so configured, drops them.
   */
  async #set(settings: Settings = {}): Promise<void> {
    const statements = Object.entries(settings).map(([name, value]) => `set ${name} = '${value}'`)
    if (statements.length > 0) await this.query(statements.join('; '))
  }

  /**
   * A pooler that keeps track of prepared statements must rename them, because its clients choose the same names.
   * PgBouncer does from 1.21, unless its `max_prepared_statements` is 0.
   */
  async #nameIfKept(mayName = true): Promise<void> {
    const { rowCount } = await this.#send({}, () => this.#encoder.encodeProbe(`probe-${randomUUID()}`))
    if (rowCount === 0 && mayName) await this.#send({}, () => this.#encoder.encodeFirstNamed())
  }

  #read(bytes: Buffer): void {
    try {
      this.#messages.read(bytes, (message) => {
        if (!this.#isOpen) return
        if (this.#login) this.#continueLogin(this.#login, message)
        else this.#take(message)
      })
    } catch (error) {
      this.#lose(error as Error)
    }
  }

  #continueLogin({ answer, done }: LoginUnderWay, message: ServerMessage): void {
    if (message.name === 'error') throw namingLimit(message)
    const reply = answer(message)
    if (reply) this.#socket.write(reply)
    if (message.name !== 'readyForQuery') return
    this.#login = undefined
    done()
  }

  #take(message: ServerMessage): void {
    if (message.name === 'notification') return this.onNotification?.(message.payload)
    if (message.name === 'notice' || message.name === 'parameterStatus') return
    const [answer] = this.#answers
    // An error such as 57P01 to an idle connection: the server is about to close it.
    if (!answer) throw message.name === 'error' ? message : new ConnectionLost(`${message.name} answers no query`)
    if (message.name === 'parseComplete') this.#settlePreparation(answer, true)
    if (message.name !== 'readyForQuery') return answer.take(message)
    this.#status = message.status
    this.#answers.shift()
    if (answer.error !== undefined) {
      this.#settlePreparation(answer, false)
      if (isMisplaced(answer.error)) this.#fault = answer.error
    }
    answer.settle()
  }

  /** Sends no faster than the server receives. */
  async #sendCopy(answer: Answer, data: AsyncIterable<Buffer>): Promise<void> {
    try {
      for await (const chunk of data) {
        // The server has rejected the previous message, or has gone.
        if (answer.error !== undefined || !this.#isOpen) return
        if (!this.#socket.write(new ClientMessages().copyData(chunk).bytes)) await this.#drained()
      }
      this.#socket.write(new ClientMessages().copyDone().bytes)
    } catch (error) {
      answer.error = error
      this.#socket.write(new ClientMessages().copyFail('the source failed').bytes)
    }
  }

  #drained(): Promise<unknown> {
    return Promise.race([new Promise((resolve) => this.#socket.once('drain', resolve)), this.#closed.promise])
  }

  #settlePreparation(answer: Answer, isParsed: boolean): void {
    const name = answer.prepares
    if (name === undefined) return
    answer.prepares = undefined
    this.#encoder.settle(name, isParsed)
  }

  #lose(cause: Error): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#socket.destroy()
    // A rejected login keeps its error class. Anything that ends an open connection, such as a fault of TLS or of
    // the parser, is a loss.
    const isKnown = this.#login !== undefined || isConnectionLost(cause) || sqlStateOf(cause) !== undefined
    const error = isKnown ? cause : new ConnectionLost(`the connection to the database broke: ${cause.message}`, { cause })
    this.#login?.fail(error)
    for (const answer of this.#answers.splice(0)) answer.fail(error)
    if (!this.#isEnding && !this.#login) this.onLost?.(error)
  }
}

/** 53300 is the limit of the server, of the role or of the database; the messages name no setting. */
function namingLimit(refusal: Error): Error {
  if (sqlStateOf(refusal) === '53300')
    refusal.message += '. Close other connections, or raise max_connections or the "connection limit" of the role or database'
  return refusal
}
