import type { Socket } from 'node:net'
import {
  type BackendMessage,
  DatabaseError,
  NotificationResponseMessage,
  ReadyForQueryMessage,
} from 'pg-protocol/dist/messages.js'
import { Parser } from 'pg-protocol/dist/parser.js'
import { serialize } from 'pg-protocol/dist/serializer.js'
import { ConnectionLost, isConnectionLost, isMisplaced, sqlStateOf } from '../database-errors.ts'
import { Answer, type QueryResult, type ReadColumn } from './answer.ts'
import { type DatabaseAddress, readDatabaseAddress } from './database-address.ts'
import { encodeValue } from './encode-value.ts'
import { type Login, startLogin } from './log-in.ts'
import { openSocket } from './open-socket.ts'

export interface Query {
  text: string
  values?: readonly unknown[]
  /** Makes it a prepared statement, which each connection parses and plans once. One name always has the same text. */
  name?: string
  /** After this time without an answer the connection is closed. Infinity: no deadline. Absent: as for the connection. */
  timeoutMs?: number
}

export interface ConnectionOptions {
  /** postgresql://… */
  url: string
  /** For the socket, TLS and the login together. */
  connectMs: number
  /** For the answer of each query. */
  answerMs: number
  /** Settings of the session, which win over those in the URL. Constants of the code: they are not escaped. */
  settings?: Readonly<Record<string, string | number>>
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
 * One connection to PostgreSQL (protocol 3.0), over pg-protocol's parser and serializer. Queries are sent at once and answered in order. Whatever
 * goes wrong with the connection itself closes it: a fault of the network, a query without an answer in time, a message that does not belong.
 */
export class Connection {
  /** Called once, when the connection ends without `end`. */
  onLost: ((error: Error) => void) | undefined
  onNotification: ((payload: string) => void) | undefined
  readonly #socket: Socket
  readonly #answerMs: number
  readonly #readColumn: ReadColumn
  readonly #parser = new Parser()
  /** In the order in which they were sent. */
  readonly #answers: Answer[] = []
  /** Prepared statements by name: their text, and whether the server has accepted it. */
  readonly #statements = new Map<string, { text: string; isParsed: boolean }>()
  readonly #closed = Promise.withResolvers<void>()
  #login: LoginUnderWay | undefined
  #isOpen = true
  #isEnding = false
  /** Whether an error showed that another connection would do better. */
  #isMisplaced = false
  /** Of the last ReadyForQuery: I outside of a transaction, T in one, E in one that failed. */
  #status = 'I'

  private constructor(socket: Socket, { answerMs, readColumn = textOnly }: ConnectionOptions) {
    this.#socket = socket
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
      // It may have been aborted since the socket was ready: then it has no event any more.
      if (signal.aborted) abort()
      try {
        await connection.#logIn(address)
        await connection.#set(options.settings)
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

  /** Whether the next one to use it finds it as it was opened: nothing unanswered, no transaction, statements and server as expected. */
  get isIdle(): boolean {
    return this.isOpen && this.#answers.length === 0 && this.#status === 'I' && !this.#isMisplaced
  }

  /** Without a name and values it is one simple query, which may hold several statements: the last one's rows are the result. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a caller who does not name its row reads what it selected
  query<Row extends object = any>(asked: string | Query, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    const query = typeof asked === 'string' ? { text: asked, ...(values ? { values } : {}) } : asked
    return new Promise<QueryResult<Row>>((resolve, reject) => {
      if (!this.isOpen) throw new ConnectionLost('the connection to the database is closed')
      const { message, prepares } = this.#encode(query)
      const answer = new Answer(this.#readColumn, prepares, resolve as (result: QueryResult<object>) => void, reject)
      const late = () => this.#lose(new ConnectionLost('the database did not answer in time'))
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

  /** Resolves when the socket is closed. What is not answered yet fails. */
  async end(): Promise<void> {
    this.#isEnding = true
    if (this.#answers.length > 0 || !this.#isOpen) this.#lose(new ConnectionLost('the connection to the database was ended'))
    else {
      this.#socket.end(serialize.end())
      // A server that vanished never closes its side.
      setTimeout(() => this.#socket.destroy(), 1_000).unref()
    }
    await this.#closed.promise
  }

  #logIn({ user, database, applicationName, options, password }: DatabaseAddress): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#login = { answer: startLogin({ user, password }), done: resolve, fail: reject }
    if (!this.#isOpen) reject(new ConnectionLost('the database closed the connection'))
    this.#socket.write(
      serialize.startup({
        user,
        database,
        ...(applicationName ? { application_name: applicationName } : {}),
        ...(options ? { options } : {}),
      }),
    )
    return promise
  }

  /** Not in the startup message, which costs no round trip: PgBouncer refuses such parameters there or, when told to, leaves them out. */
  async #set(settings: Readonly<Record<string, string | number>> = {}): Promise<void> {
    const statements = Object.entries(settings).map(([name, value]) => `set ${name} = '${value}'`)
    if (statements.length > 0) await this.query(statements.join('; '))
  }

  /** The message, and the name of the statement that it prepares. */
  #encode({ text, values = [], name }: Query): { message: Buffer; prepares?: string } {
    if (name === undefined && values.length === 0) return { message: serialize.query(text) }
    const known = name === undefined ? undefined : this.#statements.get(name)
    if (known && known.text !== text) throw new Error(`two different statements have the name ${name}`)
    // The server may still refuse one that it has not answered for: until then the same text goes without a name.
    const statement = name === undefined || known?.isParsed === false ? '' : name
    const bind = serialize.bind({ statement, values: values as unknown[], valueMapper: encodeValue })
    const run = [bind, serialize.describe({ type: 'P' }), serialize.execute(), serialize.sync()]
    if (known?.isParsed) return { message: Buffer.concat(run) }
    const message = Buffer.concat([serialize.parse({ name: statement, text, types: [] }), ...run])
    if (statement === '') return { message }
    this.#statements.set(statement, { text, isParsed: false })
    return { message, prepares: statement }
  }

  #read(bytes: Buffer): void {
    try {
      this.#parser.parse(bytes, (message) => {
        if (!this.#isOpen) return
        if (this.#login) this.#continueLogin(this.#login, message)
        else this.#take(message)
      })
    } catch (error) {
      this.#lose(error as Error)
    }
  }

  #continueLogin({ answer, done }: LoginUnderWay, message: BackendMessage): void {
    if (message instanceof DatabaseError) throw message
    const reply = answer(message)
    if (reply) this.#socket.write(reply)
    if (message.name !== 'readyForQuery') return
    this.#login = undefined
    done()
  }

  #take(message: BackendMessage): void {
    if (message instanceof NotificationResponseMessage) return this.onNotification?.(message.payload)
    if (message.name === 'notice' || message.name === 'parameterStatus') return
    const [answer] = this.#answers
    // Such as 57P01 to an idle connection: the server is about to close it.
    if (!answer) throw message instanceof DatabaseError ? message : new ConnectionLost(`${message.name} answers no query`)
    if (message.name === 'parseComplete') this.#settlePreparation(answer, true)
    if (!(message instanceof ReadyForQueryMessage)) return answer.take(message)
    this.#status = message.status
    this.#answers.shift()
    if (answer.error !== undefined) {
      this.#settlePreparation(answer, false)
      if (isMisplaced(answer.error)) this.#isMisplaced = true
    }
    answer.settle()
  }

  #settlePreparation(answer: Answer, isParsed: boolean): void {
    const name = answer.prepares
    if (name === undefined) return
    answer.prepares = undefined
    const statement = this.#statements.get(name)
    if (statement && isParsed) statement.isParsed = true
    else this.#statements.delete(name)
  }

  #lose(cause: Error): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#socket.destroy()
    // The refusal of a login keeps its class. Whatever ends an open connection, such as a fault of TLS or of the parser, is a loss.
    const isKnown = this.#login !== undefined || isConnectionLost(cause) || sqlStateOf(cause) !== undefined
    const error = isKnown ? cause : new ConnectionLost(`the connection to the database broke: ${cause.message}`, { cause })
    this.#login?.fail(error)
    for (const answer of this.#answers.splice(0)) answer.fail(error)
    if (!this.#isEnding && !this.#login) this.onLost?.(error)
  }
}
