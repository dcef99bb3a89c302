import type { Connections } from './connections.ts'

/** The least time between two sends that succeed. */
const gatherMs = 5
/** The most wake-ups that wait to be sent. Beyond it, the receivers find the change when they poll. */
const maxWaiting = 10_000

const send = {
  name: 'wake-ups',
  text: `select pg_notify(w.channel, w.payload)::text from unnest($1::text[], $2::text[]) as w (channel, payload)`,
}

/**
 * Sends notifications to the listeners of all processes, after the changes that they report are committed. NOTIFY in
 * a transaction that writes takes a lock over the whole database until its commit is on disk and on the standby, so
 * that all such transactions commit one after the other. These notifications have a transaction of their own, which
 * writes nothing and therefore waits for neither.
 *
 * The first wake-up is sent at once. Those that come within the next 5 ms, or while a send is under way, are sent
 * together, each once. A wake-up can be lost, with the process or with the connection: every receiver also polls.
 */
export class WakeUps {
  readonly #connections: Connections
  readonly #onError: (error: Error) => void
  /** Payloads by channel. */
  #waiting = new Map<string, Set<string>>()
  #count = 0
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #sentAtMs = -Infinity
  #isFailing = false

  /** `onError` is called at the first of several failures in a row. */
  constructor(connections: Connections, onError: (error: Error) => void) {
    this.#connections = connections
    this.#onError = onError
  }

  /** Called when the change is committed. */
  add(channel: string, payload: string): void {
    if (this.#count >= maxWaiting) return
    const payloads = this.#waiting.get(channel) ?? new Set()
    this.#waiting.set(channel, payloads)
    if (payloads.has(payload)) return
    payloads.add(payload)
    this.#count++
    this.#schedule()
  }

  /** Sends what still waits. */
  async close(): Promise<void> {
    await this.#sending
    clearTimeout(this.#timer)
    await this.#send()
  }

  #schedule(): void {
    if (this.#sending || this.#timer || this.#count === 0) return
    const inMs = this.#sentAtMs + gatherMs - performance.now()
    if (inMs <= 0) void this.#send()
    else this.#timer = setTimeout(() => void this.#send(), inMs).unref()
  }

  #send(): Promise<void> {
    this.#timer = undefined
    if (this.#count === 0) return Promise.resolve()
    const pairs = [...this.#waiting].flatMap(([channel, payloads]) => [...payloads].map((payload) => [channel, payload] as const))
    this.#waiting = new Map()
    this.#count = 0
    this.#sending = this.#notify(pairs).then(
      () => {
        this.#isFailing = false
      },
      (error: Error) => {
        if (!this.#isFailing) this.#onError(error)
        this.#isFailing = true
      },
    )
    return this.#sending.then(() => {
      this.#sending = undefined
      this.#sentAtMs = performance.now()
      this.#schedule()
    })
  }

  async #notify(pairs: (readonly [channel: string, payload: string])[]): Promise<void> {
    const connection = await this.#connections.acquire('statement')
    try {
      await connection.query({ ...send, values: [pairs.map(([channel]) => channel), pairs.map(([, payload]) => payload)] })
    } finally {
      this.#connections.release(connection)
    }
  }
}
