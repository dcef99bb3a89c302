import { Batcher, Locked } from '@atrium/traffic/batcher'
import { Overloaded } from '@atrium/traffic/overloaded'
import { newAccountId } from '#crypto/random.ts'
import type { Database, Db, Tx } from '#db/database.ts'
import { isDataError } from '#db/sql-errors.ts'
import { recordEvents } from '#features/events/record-event.ts'
import { listSuspendedOf } from '#features/tenants/store.ts'
import type { WrittenClaim } from '#http/idempotency/claim.ts'
import { claimKey, deleteClaims, insertClaims } from '#http/idempotency/store.ts'
import { type BookState, type Decision, decide } from './decide.ts'
import { type AccountRef, type Movement, type MovementOutcome, type Transfer, accountKey } from './movement.ts'
import { accountsOf, debtAccountsOf, lockMovements } from './lock-store.ts'
import { type DueEnd, listDueEnds, type Spared, writeDecision } from './store.ts'

/**
 * Posts independent movements in a transaction of its own. Movements that arrive while a batch commits share the next
 * batch. So movements of one account queue in memory, not at the account's lock, and a busy account costs one lock and
 * one update for each batch.
 */
export type Ledger = Batcher<Movement, MovementOutcome>

export function openLedger(db: Database): Ledger {
  // Two batches at once: one is prepared and sent while the other commits.
  return new Batcher<Movement, MovementOutcome>({
    maxSize: 256,
    concurrency: 2,
    isAboutOneInput: isDataError,
    keysOf: (movement) => accountsOf(movement).map(accountKey),
    run: (movements) => db.transactionOnce((tx) => postFreeMovements(tx, movements)),
  })
}

const nothing: Spared = { after: 'infinity', purposes: [] }

/**
 * Releases holds that are past their end, and returns the rest of expired coupons, without what is spared. Returns how
 * many it settled.
 */
export async function sweepLedger(db: Db, ledger: Ledger, limit: number, spared: Spared = nothing): Promise<number> {
  const due = await listDueEnds(db, limit, spared)
  const settled = await Promise.allSettled(due.map((one) => ledger.add(movementOf(one))))
  // A movement whose account is locked is due again at the next sweep, and does not fail the others.
  for (const one of settled) if (one.status === 'rejected' && !(one.reason instanceof Overloaded)) throw one.reason
  return settled.filter((one) => one.status === 'fulfilled').length
}

function movementOf({ what, subject, to, actor }: DueEnd): Movement {
  if (what === 'hold') return { type: 'hold_end', id: subject.id, from: to, outcome: 'expired', actor }
  return { type: 'return', id: newAccountId(), from: subject, to }
}

/**
 * Posts movements in the given transaction, in order, each with its own outcome. A movement that cannot be posted
 * writes nothing and does not affect the others. Locks the accounts first, decides in memory, writes once.
 */
export async function postMovements(tx: Tx, movements: Movement[]): Promise<MovementOutcome[]> {
  const { state } = await lockMovements(tx, movements, { waits: true })
  return decideAndWrite(tx, state, movements)
}

/**
 * Like `postMovements`, but without waiting: a movement whose account is locked is skipped with the outcome Locked. A
 * movement that a caller asked for may have waited for long. If its tenant was suspended meanwhile, it is refused, for
 * the reason that assertActive states.
 */
async function postFreeMovements(tx: Tx, movements: Movement[]): Promise<(MovementOutcome | Locked)[]> {
  const callers = movements.filter(isAsked).map(({ actor }) => actor)
  // Sent together, so that the check costs no further round trip.
  const [{ state, locked }, suspended] = await Promise.all([
    lockMovements(tx, movements, { waits: false }),
    listSuspendedOf(tx, [...new Set(callers)]),
  ])
  const skipped = movements.map((movement) => {
    if (isAsked(movement) && suspended.includes(movement.actor)) return 'tenant_suspended'
    const keys = accountsOf(movement).map(accountKey)
    const isDebtLocked = debtAccountsOf(state, movement).some((account) => locked.has(accountKey(account)))
    // The batcher waits for a key of the movement, and knows no others.
    const key = keys.find((one) => locked.has(one)) ?? (isDebtLocked ? keys[0] : undefined)
    return key === undefined ? undefined : new Locked(key)
  })
  const free = movements.filter((_, i) => skipped[i] === undefined)
  const outcomes = free.length > 0 ? await decideAndWrite(tx, state, free) : []
  const decided = outcomes.values()
  return skipped.map((outcome) => {
    if (outcome !== undefined) return outcome
    const { value, done } = decided.next()
    if (done) throw new Error('a movement was not decided')
    return value
  })
}

/** A grant or a redemption. All other movements of a batch settle what was begun before. */
function isAsked(movement: Movement): movement is Transfer {
  return movement.type === 'transfer' && movement.opens !== undefined
}

async function decideAndWrite(tx: Tx, state: BookState, movements: Movement[]): Promise<MovementOutcome[]> {
  const decision = await claimAndDecide(tx, state, movements)
  const handled = movements.filter((movement, i) => {
    // By a clock that was set back since the coupon was found, it has not expired yet: it is due again.
    if (movement.type === 'return') return state.accounts.get(accountKey(movement.from))?.over
    return movement.type === 'hold_end' && decision.outcomes[i] !== 'unknown_hold'
  })
  if (decision.postings.length > 0 || handled.length > 0) await writeDecision(tx, decision, handled.map(dueRow))
  await recordEvents(tx, decision.events)
  return decision.outcomes
}

/** The row of a hold or coupon in ledger_due. */
function dueRow({ type, id, from }: Movement): AccountRef {
  return type === 'return' ? from : { tenantId: from.tenantId, id }
}

/**
 * Claims the Idempotency-Keys of the movements that would be posted. Where another request has taken a key since, its
 * movement is refused, and the batch is decided again, because later movements may depend on it.
 */
async function claimAndDecide(tx: Tx, state: BookState, movements: Movement[]): Promise<Decision> {
  const allClaims = new Map<number, WrittenClaim>()
  for (const [i, movement] of movements.entries())
    if (movement.type === 'transfer' && movement.claim) allClaims.set(i, movement.claim)
  const refused = new Set<number>()
  const claimed = new Set<number>()
  for (;;) {
    const decision = decide(state, movements, refused)
    const wouldPost = (i: number) => decision.outcomes[i] === 'posted'
    const claims = [...allClaims].filter(([i]) => wouldPost(i) && !claimed.has(i))
    const free =
      claims.length > 0
        ? await insertClaims(
            tx,
            claims.map(([, claim]) => claim),
          )
        : new Set<string>()
    for (const [i, claim] of claims) (free.has(claimKey(claim)) ? claimed : refused).add(i)
    if (free.size === claims.length) {
      // Releases the claims of movements that a later round could no longer post.
      const idle = [...allClaims].filter(([i]) => claimed.has(i) && !wouldPost(i)).map(([, claim]) => claim)
      if (idle.length > 0) await deleteClaims(tx, idle)
      return decision
    }
  }
}
