import pg from 'pg'
import { Backoff } from './backoff.ts'

interface ListenerOptions {
  url: string
  channel: string
  onMessage: (payload: string) => void
  /** Called whenever messages may have been missed: the connection was lost and is back. */
  onGap: () => void
  onError: (error: Error) => void
}

const probeEveryMs = 5_000
const probeTimeoutMs = 4_000

/** Listens on a channel over a connection of its own, which it probes and replaces when it breaks: one attempt at a time. */
export class Listener {
  readonly #options: ListenerOptions
  readonly #backoff = new Backoff({ firstMs: 400, maxMs: 5_000, healthyMs: 10_000 })
  #client: pg.Client | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    await this.#connect()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#client?.end().catch(() => undefined)
  }

  /** Rejects where it cannot connect; only a connection that listens can be lost, so that each is followed by one attempt alone. */
  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: 5_000,
      query_timeout: probeTimeoutMs,
    })
    this.#client = client
    let listens = false
    const lose = (error?: Error) => {
      if (!listens) return
      listens = false
      clearTimeout(this.#timer)
      discard(client)
      if (this.#closed) return
      if (error) this.#options.onError(error)
      this.#retry()
    }
    client.on('error', lose)
    client.on('end', () => lose())
    client.on('notification', (message) => this.#options.onMessage(message.payload ?? ''))
    try {
      await client.connect()
      await client.query(`listen ${pg.escapeIdentifier(this.#options.channel)}`)
    } catch (error) {
      discard(client)
      throw error
    }
    // Closed while it connected: nobody would end it any more.
    if (this.#closed) return discard(client)
    listens = true
    this.#backoff.succeeded()
    this.#probe(client, lose)
  }

  /** A connection whose other end vanished stays silent for ever: a query that gets no answer shows it. */
  #probe(client: pg.Client, lose: (error: Error) => void): void {
    this.#timer = setTimeout(() => {
      client.query('select 1').then(() => {
        if (client === this.#client && !this.#closed) this.#probe(client, lose)
      }, lose)
    }, probeEveryMs).unref()
  }

  #retry(): void {
    this.#timer = setTimeout(() => {
      this.#connect().then(
        () => this.#closed || this.#options.onGap(),
        (error: Error) => {
          if (this.#closed) return
          this.#options.onError(error)
          this.#retry()
        },
      )
    }, this.#backoff.failed()).unref()
  }
}

function discard(client: pg.Client): void {
  client.removeAllListeners('notification')
  void client.end().catch(() => undefined)
}
