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
  /** Called with the payload of each notification, before the poll. */
  onMessage?: (payload: string) => void
  /** Called before the poll after a lost connection. */
  onGap?: () => void
  renewIntervalMs: number
  /**
   * Leases rows that nobody works on and adds a run for each. True: there may be more rows. If the writes of a run are
   * checked only against the id of the process, it must skip the rows in `runs`. Otherwise, an old run that has lost its
   * lease could still write, because the new run of the same process holds the lease.
   */
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
  #polling: Promise<void> | undefined
  #pollAgain = false
  #stopped = false

  constructor(options: LeasePollerOptions) {
    this.#options = options
    this.#listener = new Listener({
      url: options.databaseUrl,
      channel: options.channel,
      onMessage: (payload) => {
        options.onMessage?.(payload)
        this.poll()
      },
      onGap: () => {
        options.onGap?.()
        this.poll()
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
    this.#timers.push(setInterval(() => this.poll(), pollIntervalMs))
    this.#timers.push(setInterval(() => void this.#renew(), this.#options.renewIntervalMs))
    this.poll()
  }

  /** Takes no more rows; runs continue. Resolves after a poll that is under way. */
  async close(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#listener.close()
    await this.#polling
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

  /** Looks for rows now, or again after the poll that is under way. */
  poll(): void {
    if (this.#stopped) return
    if (this.#polling) {
      this.#pollAgain = true
      return
    }
    this.#pollAgain = false
    this.#polling = this.#pollOnce()
      .catch((error: unknown) => this.#logFault(error, `the poll for ${this.#options.what} failed`))
      .finally(() => {
        this.#polling = undefined
        if (this.#pollAgain) this.poll()
      })
  }

  #logFault(error: unknown, message: string): void {
    const { log } = this.#options
    // Frequent under load, and a stack would add nothing.
    if (error instanceof Overloaded) log.warn(`${message}: ${error.message}`)
    else log.error({ err: error }, message)
  }

  async #pollOnce(): Promise<void> {
    const { listHeld, take } = this.#options
    if (listHeld) await this.#abortLost(listHeld)
    if (!this.#stopped && (await take())) this.#pollAgain = true
  }

  async #renew(): Promise<void> {
    try {
      await this.#abortLost(this.#options.renew)
    } catch (error) {
      this.#logFault(error, `leases of ${this.#options.what} not renewed`)
    }
  }

  /** Aborts the runs whose row has ended or is leased to another process. */
  async #abortLost(listHeld: (ids: string[]) => Promise<Set<string>>): Promise<void> {
    // Only the runs from before the query, because others may have started meanwhile.
    const asked = [...this.runs]
    if (asked.length === 0) return
    const held = await listHeld(asked.map(([id]) => id))
    for (const [id, run] of asked) {
      if (held.has(id)) continue
      run.abort('its lease is lost')
      // Until then, `take` may have left out the row.
      void run.done.then(() => this.poll())
    }
  }
}
