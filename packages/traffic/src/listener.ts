import pg from 'pg'

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
const retryMs = 500

/** Listens on a channel over a connection of its own, which it probes and replaces when it breaks. */
export class Listener {
  readonly #options: ListenerOptions
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

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: 5_000,
      query_timeout: probeTimeoutMs,
    })
    this.#client = client
    let lost = false
    const lose = (error?: Error) => {
      if (lost || this.#closed) return
      lost = true
      clearTimeout(this.#timer)
      if (error) this.#options.onError(error)
      client.removeAllListeners('notification')
      void client.end().catch(() => undefined)
      this.#retry()
    }
    client.on('error', lose)
    client.on('end', () => lose())
    client.on('notification', (message) => this.#options.onMessage(message.payload ?? ''))
    await client.connect()
    await client.query(`listen ${pg.escapeIdentifier(this.#options.channel)}`)
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
        () => this.#options.onGap(),
        (error: Error) => {
          this.#options.onError(error)
          if (!this.#closed) this.#retry()
        },
      )
    }, retryMs).unref()
  }
}
