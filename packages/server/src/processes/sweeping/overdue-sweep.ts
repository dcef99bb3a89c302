import { noteContact } from '#db/contact-store.ts'
import { toError } from '#errors/caught.ts'
import type { Context } from '#features/context.ts'
import { sweepLedger } from '#features/credits/ledger/ledger.ts'
import { endOverdue } from '#features/sessions/session-transitions.ts'

/** Each session ends in its own transaction. */
const sessionsAtOnce = 100

/**
 * Ends all overdue sessions before the ledger is settled. After a long outage the hold of a session that worked has
 * expired too, and must be captured and not released. The hold of a session that could not be ended waits for it. So
 * does a hold that expires meanwhile: this process may be stopped for an hour in between, or the clock jump forward.
 */
export class OverdueSweep {
  readonly #ctx: Context
  readonly #batchSize: number
  readonly #moveWaiting: (seconds: number) => void
  /** Sessions that this sweep could not end. It skips them from then on, so that all others are ended. */
  readonly #unended: string[] = []

  constructor(ctx: Context, batchSize: number, moveWaiting: (seconds: number) => void) {
    this.#ctx = ctx
    this.#batchSize = batchSize
    this.#moveWaiting = moveWaiting
  }

  /** Returns `batchSize` if more may be due. */
  async run(): Promise<number> {
    const { db, ledger } = this.#ctx
    const { at, setBackSeconds } = await noteContact(db)
    // It may take minutes, and overdue sessions must end on time.
    if (setBackSeconds > 0) this.#moveWaiting(setBackSeconds)
    const { overdue, suspended, failed, problem } = await endOverdue(this.#ctx, sessionsAtOnce, this.#unended)
    this.#unended.push(...failed)
    if (overdue === sessionsAtOnce) return this.#batchSize
    const settled = await sweepLedger(db, ledger, this.#batchSize, { after: at, purposes: this.#unended })
    if (suspended === sessionsAtOnce || settled === this.#batchSize) return this.#batchSize
    if (problem !== undefined) throw toError(problem)
    // Each failure is in the log. So many have a common cause, so the sweep fails, and an alert reports it.
    if (this.#unended.length >= sessionsAtOnce) throw new Error(`${this.#unended.length} sessions could not be ended`)
    return settled
  }

  /** The next sweep tries again to end the sessions that this one could not. */
  end(): void {
    this.#unended.splice(0)
  }
}
