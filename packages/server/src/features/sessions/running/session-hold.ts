import { isPassing } from '#db/is-passing.ts'
import type { Db } from '#db/database.ts'
import { leaseSeconds, renewLeases } from './lease.ts'

/** A request that was sent while the lease held is in the room within this time. */
const marginMs = 5_000

/** The lease ran out and another worker has the session, or the session has ended: whoever held it writes nothing more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** Nothing is known against the lease, but it may have run out meanwhile: the database has to be asked. */
class LeaseDoubtful extends Error {
  override readonly name = 'LeaseDoubtful'
}

/**
 * What a worker knows of its lease on a session. The database checks the lease at every write of its own; what a worker writes elsewhere (a
 * room, an endpoint) this checks. Times are of the monotonic clock, which goes on while the process is stopped, and count from before the
 * lease was asked for: so they end no later than the lease in the database.
 */
export class SessionHold {
  readonly owner: string
  readonly #db: Db
  readonly #sessionId: string
  #freshUntilMs = 0

  constructor(db: Db, owner: string, sessionId: string, askedAtMs: number) {
    this.owner = owner
    this.#db = db
    this.#sessionId = sessionId
    this.noteRenewed(askedAtMs)
  }

  noteRenewed(askedAtMs: number): void {
    this.#freshUntilMs = askedAtMs + leaseSeconds * 1_000 - marginMs
  }

  /** Renews the lease if it may have run out. @throws LeaseLost, or what the database says while it is away. */
  async confirm(): Promise<void> {
    if (this.#isFresh()) return
    const askedAtMs = performance.now()
    const { held, renewed } = await renewLeases(this.#db, this.owner, [this.#sessionId])
    if (!held.has(this.#sessionId)) throw new LeaseLost()
    if (!renewed.has(this.#sessionId)) throw new LeaseDoubtful()
    this.noteRenewed(askedAtMs)
  }

  /** For the moment before something is sent: the process may have been stopped since it was confirmed. */
  readonly assertFresh = (): void => {
    if (!this.#isFresh()) throw new LeaseDoubtful()
  }

  #isFresh(): boolean {
    return performance.now() < this.#freshUntilMs
  }
}

/** Whether what failed may succeed in a while, with the lease confirmed anew. */
export function isPassingForHolder(error: unknown): boolean {
  return error instanceof LeaseDoubtful || isPassing(error)
}
