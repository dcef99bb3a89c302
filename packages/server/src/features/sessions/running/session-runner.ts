import type { Context } from '#features/context.ts'
import { LeasePoller, type LeasedRun } from '#db/lease-poller.ts'
import { newId } from '#crypto/random.ts'
import { commitEnd } from '../session-transitions.ts'
import type { Session } from '../session.ts'
import { sessionChannel } from '../store.ts'
import { claimSessions, listHeld, releaseLeases, renewLeases, type ClaimedSession, type ClaimKind } from './lease-store.ts'
import { launchRemote, notifyEnded } from './remote-agent.ts'
import type { Run } from './run-model-session.ts'
import { LeaseLostError, SessionLease } from './session-lease.ts'

const renewIntervalMs = 8_000

interface SessionRun extends LeasedRun {
  tenantId: string
  kind: ClaimKind
  lease: SessionLease
}

/**
 * Runs sessions in this process: claims those without a worker, and aborts those that ended or that another worker
 * has. Up to its capacity it runs sessions of hosted agents, which last for hours, and as many launches of remote
 * agents, which end within half a minute and cannot wait for the others.
 */
export class SessionRunner {
  readonly #ctx: Context
  readonly #capacity: number
  readonly #owner = newId('request')
  readonly #work: LeasePoller<SessionRun>

  constructor(ctx: Context, databaseUrl: string, capacity: number) {
    this.#ctx = ctx
    this.#capacity = capacity
    this.#work = new LeasePoller({
      databaseUrl,
      log: ctx.log,
      what: 'sessions',
      channel: sessionChannel,
      renewIntervalMs,
      take: () => this.#take(),
      renew: (ids) => this.#renew(ids),
      listHeld: (ids) => listHeld(ctx.db, this.#owner, ids),
    })
  }

  start(): Promise<void> {
    return this.#work.start()
  }

  /** Aborts the runs and releases their leases, so that another worker continues the sessions at once. */
  async stop(): Promise<void> {
    const ids = new Set(this.#work.runs.keys())
    const closed = this.#work.close()
    // Before closing, which waits for the database while the runs would continue.
    this.#work.abortAll('the worker stops')
    await closed
    // A poll that was in progress may have started more runs.
    for (const id of this.#work.runs.keys()) ids.add(id)
    this.#work.abortAll('the worker stops')
    await this.#work.ended()
    await releaseLeases(this.#ctx.db, this.#owner, [...ids]).catch(() => undefined)
  }

  async #take(): Promise<boolean> {
    await notifyEnded(this.#ctx)
    // First those whose agent has only 30 seconds to join.
    await this.#claim('remote')
    await this.#claim('hosted')
    return false
  }

  async #claim(kind: ClaimKind): Promise<void> {
    const running = [...this.#work.runs].filter(([, run]) => run.kind === kind).map(([id, { tenantId }]) => ({ tenantId, id }))
    const free = this.#capacity - running.length
    if (free <= 0) return
    // Also while no other tenant waits: sessions last for hours, and a tenant that comes later would find no capacity.
    const perTenant = Math.ceil(this.#capacity / 2)
    const requestedAtMs = performance.now()
    const claimed = await claimSessions(this.#ctx.db, this.#owner, { kind, free, perTenant, running })
    for (const session of claimed) this.#run(kind, session, requestedAtMs)
  }

  async #renew(ids: string[]): Promise<Set<string>> {
    const requestedAtMs = performance.now()
    const { held, renewed } = await renewLeases(this.#ctx.db, this.#owner, ids)
    for (const id of renewed) this.#work.runs.get(id)?.lease.noteRenewed(requestedAtMs)
    return held
  }

  #run(kind: ClaimKind, { session, leftMs }: ClaimedSession, requestedAtMs: number): void {
    const abort = new AbortController()
    const lease = new SessionLease(this.#ctx.db, this.#owner, session.id, requestedAtMs)
    const run: Run = { session, lease, signal: abort.signal }
    const expiry = setTimeout(() => void this.#expire(session, abort), Math.max(0, leftMs))
    const work = async () => {
      if (kind === 'remote') return launchRemote(this.#ctx, run)
      // Loaded with the first session of an agent with a model.
      const { runModelSession } = await import('./run-model-session.ts')
      return runModelSession(this.#ctx, run)
    }
    const done = this.#ctx.metrics
      .measure('session', work)
      .catch((error: unknown) => {
        if (abort.signal.aborted || error instanceof LeaseLostError) return
        this.#ctx.log.error({ err: error, session: session.id }, 'the run of a session failed')
      })
      .finally(() => clearTimeout(expiry))
    const { tenantId } = session
    this.#work.add(session.id, { tenantId, kind, lease, done, abort: (reason) => abort.abort(new Error(reason)) })
  }

  async #expire(session: Session, abort: AbortController): Promise<void> {
    abort.abort(new Error('the time is up'))
    // If this fails, the sweeper ends the session.
    await commitEnd(this.#ctx, session, { status: 'expired' }, { leaseOwner: this.#owner }).catch((error: unknown) =>
      this.#ctx.log.error({ err: error, session: session.id }, 'cannot end a session whose time is up'),
    )
  }
}
