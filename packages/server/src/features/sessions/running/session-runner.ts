import { Listener } from '@atrium/traffic/listener'
import type { Context } from '../../../context.ts'
import { newId } from '../../../random.ts'
import { endSession } from '../end-session.ts'
import type { Session } from '../session.ts'
import { sessionChannel } from '../store.ts'
import { listHeld, releaseLeases, renewLeases } from './lease.ts'
import { launchRemote } from './launch-remote.ts'
import { runModelSession, type Run } from './run-model-session.ts'
import { tellEnded } from './tell-ended.ts'
import { claimSessions } from './claim-sessions.ts'

const lookEveryMs = 1_000
const renewEveryMs = 8_000

interface Running {
  abort: AbortController
  done: Promise<void>
}

/** Runs sessions in this process: takes those that nobody runs, as many as it may, and lets go of what has ended or is another's. */
export class SessionRunner {
  readonly #ctx: Context
  readonly #capacity: number
  readonly #owner = newId('request')
  readonly #running = new Map<string, Running>()
  readonly #listener: Listener
  readonly #timers: NodeJS.Timeout[] = []
  #looking: Promise<void> | undefined
  #lookAgain = false
  #stopped = false

  constructor(ctx: Context, databaseUrl: string, capacity: number) {
    this.#ctx = ctx
    this.#capacity = capacity
    this.#listener = new Listener({
      url: databaseUrl,
      channel: sessionChannel,
      onMessage: () => this.#look(),
      onGap: () => this.#look(),
      onError: (error) => ctx.log.error({ err: error }, 'session notifications lost; reconnecting'),
    })
  }

  async start(): Promise<void> {
    await this.#listener.start()
    // Notifications make it quick; looking by the clock makes it sure.
    this.#timers.push(setInterval(() => this.#look(), lookEveryMs))
    this.#timers.push(setInterval(() => void this.#renew(), renewEveryMs))
    this.#look()
  }

  /** Stops running, and gives the sessions up so that another worker goes on with them at once. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#listener.close()
    await this.#looking
    const ids = [...this.#running.keys()]
    const runs = [...this.#running.values()]
    for (const { abort } of runs) abort.abort(new Error('the worker stops'))
    await Promise.all(runs.map(({ done }) => done))
    await releaseLeases(this.#ctx.db, this.#owner, ids).catch(() => undefined)
  }

  #look(): void {
    if (this.#looking) {
      this.#lookAgain = true
      return
    }
    this.#lookAgain = false
    this.#looking = this.#lookOnce()
      .catch((error: unknown) => this.#ctx.log.error({ err: error }, 'sessions not looked after'))
      .finally(() => {
        this.#looking = undefined
        if (this.#lookAgain && !this.#stopped) this.#look()
      })
  }

  async #lookOnce(): Promise<void> {
    const asked = [...this.#running.keys()]
    this.#letGo(asked, await listHeld(this.#ctx.db, this.#owner, asked))
    await tellEnded(this.#ctx)
    if (this.#stopped) return
    const free = this.#capacity - this.#running.size
    if (free <= 0) return
    for (const session of await claimSessions(this.#ctx.db, this.#owner, free)) this.#run(session)
  }

  async #renew(): Promise<void> {
    try {
      const asked = [...this.#running.keys()]
      this.#letGo(asked, await renewLeases(this.#ctx.db, this.#owner, asked))
    } catch (error) {
      this.#ctx.log.error({ err: error }, 'leases not renewed')
    }
  }

  /** Only those that were asked about: one that was claimed meanwhile is held too. */
  #letGo(asked: string[], held: Set<string>): void {
    for (const id of asked) if (!held.has(id)) this.#running.get(id)?.abort.abort(new Error('the session is over'))
  }

  #run(session: Session): void {
    const abort = new AbortController()
    const run: Run = { session, owner: this.#owner, signal: abort.signal }
    const expiry = setTimeout(() => void this.#expire(session, abort), Math.max(0, Date.parse(session.expiresAt) - Date.now()))
    const work = session.agent.endpoint === null ? runModelSession(this.#ctx, run) : launchRemote(this.#ctx, run)
    const done = work
      .catch((error: unknown) => this.#ctx.log.error({ err: error, session: session.id }, 'a session ended badly'))
      .finally(() => {
        clearTimeout(expiry)
        this.#running.delete(session.id)
      })
    this.#running.set(session.id, { abort, done })
  }

  async #expire(session: Session, abort: AbortController): Promise<void> {
    abort.abort(new Error('the time is up'))
    // The sweeper does it too, should this fail.
    await endSession(this.#ctx, session, { status: 'expired' }).catch((error: unknown) =>
      this.#ctx.log.error({ err: error, session: session.id }, 'a session was not ended at its time'),
    )
  }
}
