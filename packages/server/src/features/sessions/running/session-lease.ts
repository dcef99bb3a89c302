import type { Db } from '#db/database.ts'
import { isPassing } from '#db/is-passing.ts'
import { leaseSeconds, renewLeases } from './lease-store.ts'

/** A request that is sent while the lease holds reaches the room within this time. */
const marginMs = 5_000

/** Another worker has the session, or the session has ended: this worker must not write any more. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}

/** The lease may have expired since it was last confirmed; only the database knows. */
class LeaseUncertainError extends Error {
  override readonly name = 'LeaseUncertainError'
}

/**
 * A worker's lease on a session, by the worker's own clock. The database checks the lease at every write of its own.
 * This class checks it before a write elsewhere, in a room or at an endpoint. Times are of the monotonic clock, which
 * continues while the process is stopped, and start before the lease was requested, so that they end no later than the
 * lease in the database.
 */
export class SessionLease {
  readonly owner: string
  readonly #db: Db
  readonly #sessionId: string
  #freshUntilMs = 0

  constructor(db: Db, owner: string, sessionId: string, requestedAtMs: number) {
    this.owner = owner
    this.#db = db
    this.#sessionId = sessionId
    this.noteRenewed(requestedAtMs)
  }

  noteRenewed(requestedAtMs: number): void {
    this.#freshUntilMs = requestedAtMs + leaseSeconds * 1_000 - marginMs
  }

  /**
   * Renews the lease in the database, which also shows whether the session was stopped a moment ago. @throws
   * LeaseLostError, or the database's error while it is unreachable.
   */
  async confirm(): Promise<void> {
    const requestedAtMs = performance.now()
    const { held, renewed } = await renewLeases(this.#db, this.owner, [this.#sessionId])
    if (!held.has(this.#sessionId)) throw new LeaseLostError()
    if (renewed.has(this.#sessionId)) this.noteRenewed(requestedAtMs)
    // The row is locked, so the lease was not renewed: it ends when it would have ended.
    else this.assertFresh()
  }

  /** For the moment before a request is sent: the process may have been stopped since the lease was confirmed. */
  readonly assertFresh = (): void => {
    if (!this.#isFresh()) throw new LeaseUncertainError()
  }

  #isFresh(): boolean {
    return performance.now() < this.#freshUntilMs
  }
}

/** Whether a failed call may succeed later, once the lease is confirmed again. */
export function isPassingForHolder(error: unknown): boolean {
  return error instanceof LeaseUncertainError || isPassing(error)
}
