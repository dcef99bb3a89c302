import { Listener } from '@atrium/traffic/listener'
import { Overloaded } from '@atrium/traffic/overloaded'
import type { Logger } from 'pino'

/** One row whose work runs in this process. */
export interface LeasedRun {
  /** Never rejects. */
  done: Promise<void>
  abort(reason: string): void
}

interface LeasePollerOptions {
  databaseUrl: string
  log: Logger
  /** Names the work in the log. */
  what: string
  /** Notified when there may be something to do. */
  channel: string
  /** Called with the payload of each notification, before the look. */
  onMessage?: (payload: string) => void
  /** Called before the look after a lost connection. */
  onGap?: () => void
  renewIntervalMs: number
  /** Leases rows that nobody works on and adds a run for each. True: there may be more. */
  take: () => Promise<boolean>
  /** Renews the leases. Returns the ids that this process still holds. */
  renew: (ids: string[]) => Promise<Set<string>>
  /**
   * Returns the ids that this process still holds. Called before `take`, so that runs whose row has ended abort at
   * once.
   */
  listHeld?: (ids: string[]) => Promise<Set<string>>
}

const pollIntervalMs = 1_000

/**
 * Shares rows among processes: the holder of a row's lease does its work, and another takes over when the lease
 * expires.
 */
export class LeasePoller<Run extends LeasedRun> {
  readonly runs = new Map<string, Run>()
  readonly #options: LeasePollerOptions
  readonly #listener: Listener
  readonly #timers: NodeJS.Timeout[] = []
  #looking: Promise<void> | undefined
  #lookAgain = false
  #stopped = false

  constructor(options: LeasePollerOptions) {
    this.#options = options
    this.#listener = new Listener({
      url: options.databaseUrl,
      channel: options.channel,
      onMessage: (payload) => {
        options.onMessage?.(payload)
        this.look()
      },
      onGap: () => {
        options.onGap?.()
        this.look()
      },
      onError: (error) => options.log.error({ err: error }, `notifications of ${options.what} lost; reconnecting`),
    })
  }

  get stopped(): boolean {
    return this.#stopped
  }

  async start(): Promise<void> {
    await this.#listener.start()
    // Notifications make it fast. The timer makes it reliable and finds rows that become due.
    this.#timers.push(setInterval(() => this.look(), pollIntervalMs))
    this.#timers.push(setInterval(() => void this.#renew(), this.#options.renewIntervalMs))
    this.look()
  }

  /** Takes no more rows; runs continue. Resolves after a poll that is under way. */
  async close(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#listener.close()
    await this.#looking
  }

  /** Resolves when every run has ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.runs.values()].map(({ done }) => done))
  }

  add(id: string, run: Run): void {
    this.runs.set(id, run)
    void run.done.then(() => {
      // A lost row may have been taken again before its old run ended.
      if (this.runs.get(id) === run) this.runs.delete(id)
    })
  }

  abortAll(reason: string): void {
    for (const run of this.runs.values()) run.abort(reason)
  }

  look(): void {
    if (this.#stopped) return
    if (this.#looking) {
      this.#lookAgain = true
      return
    }
    this.#lookAgain = false
    this.#looking = this.#lookOnce()
      .catch((error: unknown) => this.#logFault(error, `the poll for ${this.#options.what} failed`))
      .finally(() => {
        this.#looking = undefined
        if (this.#lookAgain) this.look()
      })
  }

  #logFault(error: unknown, message: string): void {
    const { log } = this.#options
    // Frequent under load, and a stack would add nothing.
    if (error instanceof Overloaded) log.warn(`${message}: ${error.message}`)
    else log.error({ err: error }, message)
  }

  async #lookOnce(): Promise<void> {
    const { listHeld, take } = this.#options
    if (listHeld) await this.#letGo(listHeld)
    if (!this.#stopped && (await take())) this.#lookAgain = true
  }

  async #renew(): Promise<void> {
    try {
      await this.#letGo(this.#options.renew)
    } catch (error) {
      this.#logFault(error, `leases of ${this.#options.what} not renewed`)
    }
  }

  /** Aborts the runs whose row has ended or is leased to another process. */
  async #letGo(ask: (ids: string[]) => Promise<Set<string>>): Promise<void> {
    // Only the runs from before the query, because others may have started meanwhile.
    const asked = [...this.runs]
    if (asked.length === 0) return
    const held = await ask(asked.map(([id]) => id))
    for (const [id, run] of asked) if (!held.has(id)) run.abort('its lease is lost')
  }
}
