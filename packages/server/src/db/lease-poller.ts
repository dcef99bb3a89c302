import { Listener } from '@atrium/traffic/listener'
import { Overloaded } from '@atrium/traffic/overloaded'
import type { Logger } from 'pino'

/** A piece of work that is under way in this process. */
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
  renewEveryMs: number
  /** Claims what nobody works on and adds a run for each; true: there may be more at once. */
  take: () => Promise<boolean>
  /** Renews the leases; says which are still ours. */
  renew: (ids: string[]) => Promise<Set<string>>
  /** Says which are still ours, before anything is taken: what was ended is let go of at once. */
  listHeld?: (ids: string[]) => Promise<Set<string>>
}

const lookEveryMs = 1_000

/** Work that any number of processes share: each piece is done by the one that holds its lease, and goes to another when the lease runs out. */
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
      onMessage: () => this.look(),
      onGap: () => this.look(),
      onError: (error) => options.log.error({ err: error }, `notifications of ${options.what} lost; reconnecting`),
    })
  }

  get stopped(): boolean {
    return this.#stopped
  }

  async start(): Promise<void> {
    await this.#listener.start()
    // Notifications make it quick; looking by the clock makes it sure, and finds what falls due.
    this.#timers.push(setInterval(() => this.look(), lookEveryMs))
    this.#timers.push(setInterval(() => void this.#renew(), this.#options.renewEveryMs))
    this.look()
  }

  /** Takes nothing more, from this moment on; what is under way goes on. Ends with the look that may be under way. */
  async close(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#listener.close()
    await this.#looking
  }

  /** When every run has ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.runs.values()].map(({ done }) => done))
  }

  add(id: string, run: Run): void {
    this.runs.set(id, run)
    void run.done.then(() => {
      // One that was lost and taken again may have begun before it ended.
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
      .catch((error: unknown) => this.#logFault(error, `${this.#options.what} not looked after`))
      .finally(() => {
        this.#looking = undefined
        if (this.#lookAgain) this.look()
      })
  }

  #logFault(error: unknown, message: string): void {
    const { log } = this.#options
    // Under load there are many of these, and a stack says no more.
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

  /** Ends what is over, or another's by now. */
  async #letGo(ask: (ids: string[]) => Promise<Set<string>>): Promise<void> {
    // Only those that were asked about: others may have begun meanwhile.
    const asked = [...this.runs]
    if (asked.length === 0) return
    const held = await ask(asked.map(([id]) => id))
    for (const [id, run] of asked) if (!held.has(id)) run.abort('it is no longer ours')
  }
}
