import type { Context } from '#features/context.ts'
import { LeasedWork, type LeasedRun } from '#db/lease-poller.ts'
import { newId } from '#crypto/random.ts'
import { endSession } from '../end-session.ts'
import type { Session } from '../session.ts'
import { sessionChannel } from '../store.ts'
import { listHeld, releaseLeases, renewLeases } from './lease.ts'
import { launchRemote } from './launch-remote.ts'
import { runModelSession, type Run } from './run-model-session.ts'
import { tellEnded } from './tell-ended.ts'
import { claimSessions, type ClaimedSession } from './claim-sessions.ts'
import { LeaseLost, SessionHold } from './session-hold.ts'

const renewEveryMs = 8_000

/** A run, and for whom. */
interface SessionRun extends LeasedRun {
  tenantId: string
  hold: SessionHold
  signal: AbortSignal
}

/** Runs sessions in this process: takes those that nobody runs, as many as it may, and lets go of what has ended or is another's. */
export class SessionRunner {
  readonly #ctx: Context
  readonly #capacity: number
  readonly #owner = newId('request')
  readonly #work: LeasedWork<SessionRun>

  constructor(ctx: Context, databaseUrl: string, capacity: number) {
    this.#ctx = ctx
    this.#capacity = capacity
    this.#work = new LeasedWork({
      databaseUrl,
      log: ctx.log,
      what: 'sessions',
      channel: sessionChannel,
      renewEveryMs,
      take: () => this.#take(),
      renew: (ids) => this.#renew(ids),
      listHeld: (ids) => listHeld(ctx.db, this.#owner, ids),
    })
  }

  start(): Promise<void> {
    return this.#work.start()
  }

  /** Stops running, and gives the sessions up so that another worker goes on with them at once. */
  async stop(): Promise<void> {
    const ids = new Set(this.#work.runs.keys())
    const closed = this.#work.close()
    // At once: closing waits for the database, and what is under way would go on meanwhile.
    this.#work.abortAll('the worker stops')
    await closed
    // A look that was under way may have begun more.
    for (const id of this.#work.runs.keys()) ids.add(id)
    this.#work.abortAll('the worker stops')
    await this.#work.ended()
    await releaseLeases(this.#ctx.db, this.#owner, [...ids]).catch(() => undefined)
  }

  async #take(): Promise<boolean> {
    await tellEnded(this.#ctx)
    const free = this.#capacity - this.#work.runs.size
    if (free <= 0) return false
    // Always, not only while others wait: sessions last for hours, and what one tenant took meanwhile would not be free for who comes.
    const perTenant = Math.ceil(this.#capacity / 2)
    const askedAtMs = performance.now()
    const claimed = await claimSessions(this.#ctx.db, this.#owner, { free, perTenant, held: this.#heldByTenant() })
    for (const session of claimed) this.#begin(session, askedAtMs)
    return false
  }

  async #renew(ids: string[]): Promise<Set<string>> {
    const askedAtMs = performance.now()
    const { held, renewed } = await renewLeases(this.#ctx.db, this.#owner, ids)
    for (const id of renewed) this.#work.runs.get(id)?.hold.noteRenewed(askedAtMs)
    return held
  }

  #heldByTenant(): Map<string, number> {
    const held = new Map<string, number>()
    for (const { tenantId } of this.#work.runs.values()) held.set(tenantId, (held.get(tenantId) ?? 0) + 1)
    return held
  }

  /** After a while without the database this worker finds its own sessions free: what runs goes on, what is just ending begins anew. */
  #begin(claimed: ClaimedSession, askedAtMs: number): void {
    const before = this.#work.runs.get(claimed.session.id)
    if (!before) this.#run(claimed, askedAtMs)
    else if (before.signal.aborted) void before.done.then(() => this.#work.stopped || this.#begin(claimed, askedAtMs))
    else before.hold.noteRenewed(askedAtMs)
  }

  #run({ session, leftMs }: ClaimedSession, askedAtMs: number): void {
    const abort = new AbortController()
    const hold = new SessionHold(this.#ctx.db, this.#owner, session.id, askedAtMs)
    const run: Run = { session, hold, signal: abort.signal }
    const expiry = setTimeout(() => void this.#expire(session, abort), Math.max(0, leftMs))
    const work = session.agent.endpoint === null ? runModelSession(this.#ctx, run) : launchRemote(this.#ctx, run)
    const done = work
      .catch((error: unknown) => {
        if (abort.signal.aborted || error instanceof LeaseLost) return
        this.#ctx.log.error({ err: error, session: session.id }, 'a session ended badly')
      })
      .finally(() => clearTimeout(expiry))
    const { tenantId } = session
    this.#work.add(session.id, { tenantId, hold, signal: abort.signal, done, abort: (reason) => abort.abort(new Error(reason)) })
  }

  async #expire(session: Session, abort: AbortController): Promise<void> {
    abort.abort(new Error('the time is up'))
    // The sweeper does it too, should this fail.
    await endSession(this.#ctx, session, { status: 'expired' }, { leaseOwner: this.#owner }).catch((error: unknown) =>
      this.#ctx.log.error({ err: error, session: session.id }, 'a session was not ended at its time'),
    )
  }
}
