import { Backoff } from './backoff.ts'
import { ConnectionLost } from './database-errors.ts'
import { Connection } from './postgres/connection.ts'

interface ListenerOptions {
  url: string
  channel: string
  onMessage: (payload: string) => void
  /** Called whenever messages may have been missed: the connection was lost and restored. */
  onGap: () => void
  onError: (error: Error) => void
}

const probeIntervalMs = 5_000
const probeTimeoutMs = 4_000
const connectMs = 5_000

/**
 * Listens on a channel over its own connection, which it probes and replaces when it breaks, with one attempt at a
 * time.
 */
export class Listener {
  readonly #options: ListenerOptions
  readonly #backoff = new Backoff({ firstMs: 400, maxMs: 5_000, healthyMs: 10_000 })
  readonly #closed = new AbortController()
  #connection: Connection | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    await this.#connect()
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error('the listener was closed'))
    clearTimeout(this.#timer)
    await this.#connection?.end()
  }

  /**
   * Rejects if it cannot connect. Only a connection that listens can be lost, and each loss is followed by one
   * attempt.
   */
  async #connect(): Promise<void> {
    const { url, channel, onMessage } = this.#options
    const connection = await Connection.open({ url, connectMs, answerMs: probeTimeoutMs, signal: this.#closed.signal })
    this.#connection = connection
    connection.onNotification = onMessage
    try {
      await connection.query(`listen "${channel.replaceAll('"', '""')}"`)
      if (!connection.isOpen) throw new ConnectionLost('the database closed the connection')
    } catch (error) {
      void connection.end()
      throw error
    }
    connection.onLost = (error) => this.#lose(error)
    this.#backoff.succeeded()
    this.#probe(connection)
  }

  /** A connection whose peer vanished stays silent for ever, so a query without an answer in time closes it. */
  #probe(connection: Connection): void {
    this.#timer = setTimeout(() => {
      connection.query('select 1').then(
        () => this.#probe(connection),
        (error: Error) => {
          // A connection that is closed by now was lost, which `onLost` reports, or was ended.
          if (!connection.isOpen) return
          void connection.end()
          this.#lose(error)
        },
      )
    }, probeIntervalMs).unref()
  }

  #lose(error: Error): void {
    clearTimeout(this.#timer)
    this.#options.onError(error)
    this.#retry()
  }

  #retry(): void {
    this.#timer = setTimeout(() => {
      this.#connect().then(
        () => this.#closed.signal.aborted || this.#options.onGap(),
        (error: Error) => {
          if (this.#closed.signal.aborted) return
          this.#options.onError(error)
          this.#retry()
        },
      )
    }, this.#backoff.failed()).unref()
  }
}
