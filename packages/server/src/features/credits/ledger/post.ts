import { Locked } from '@atrium/traffic/batcher'
import type { Tx } from '#db/database.ts'
import type { WrittenClaim } from '#http/idempotency/claim.ts'
import { claimKey, deleteClaims, insertClaims } from '#http/idempotency/store.ts'
import { recordEvents } from '#features/events/record-event.ts'
import { accountKey, type AccountRef } from './account.ts'
import { decide, type BookState, type Decision } from './decide.ts'
import type { Movement, MovementOutcome } from './movement.ts'
import { accountsOf, lockMovements, writeDecision } from './store.ts'

/**
 * Posts movements in the given transaction, in order, each with its own outcome: those that cannot be posted leave no trace, and do not
 * keep the others from it. Locks the accounts first, decides in memory, writes once.
 */
export async function postMovements(tx: Tx, movements: Movement[]): Promise<MovementOutcome[]> {
  const { state } = await lockMovements(tx, movements, { waits: true })
  return decideAndWrite(tx, state, movements)
}

/** The same without a wait: movements whose account somebody else holds are left out, and told as locked. */
export async function postFreeMovements(tx: Tx, movements: Movement[]): Promise<(MovementOutcome | Locked)[]> {
  const { state, locked } = await lockMovements(tx, movements, { waits: false })
  if (locked.size === 0) return decideAndWrite(tx, state, movements)
  const lockedBy = movements.map((movement) =>
    accountsOf(movement)
      .map(accountKey)
      .find((key) => locked.has(key)),
  )
  const free = movements.filter((_, i) => lockedBy[i] === undefined)
  const outcomes = free.length > 0 ? await decideAndWrite(tx, state, free) : []
  return lockedBy.map((key) => (key === undefined ? outcomes.shift()! : new Locked(key)))
}

async function decideAndWrite(tx: Tx, state: BookState, movements: Movement[]): Promise<MovementOutcome[]> {
  const decision = await claimAndDecide(tx, state, movements)
  const handled = movements.filter(
    (movement, i) => movement.type === 'return' || (movement.type === 'hold_end' && decision.outcomes[i] !== 'unknown_hold'),
  )
  if (decision.postings.length > 0 || handled.length > 0) await writeDecision(tx, decision, handled.map(dueRow))
  await recordEvents(tx, decision.events)
  return decision.outcomes
}

/** The sweeper's row of a hold or of a coupon. */
function dueRow({ type, id, from }: Movement): AccountRef {
  return type === 'return' ? from : { tenantId: from.tenantId, id }
}

/**
 * Claims the Idempotency-Keys of the movements that would be posted. A key that another request took meanwhile takes its movement out, and
 * what depended on that is decided anew.
 */
async function claimAndDecide(tx: Tx, state: BookState, movements: Movement[]): Promise<Decision> {
  const refused = new Set<number>()
  const claimed = new Set<number>()
  for (;;) {
    const decision = decide(state, movements, refused)
    const claims = new Map<number, WrittenClaim>()
    movements.forEach((movement, i) => {
      if (movement.type !== 'transfer' || !movement.claim || decision.outcomes[i] !== 'posted') return
      if (!claimed.has(i)) claims.set(i, movement.claim)
    })
    const free = claims.size > 0 ? await insertClaims(tx, [...claims.values()]) : new Set<string>()
    for (const [i, claim] of claims) (free.has(claimKey(claim)) ? claimed : refused).add(i)
    if (free.size === claims.size) {
      // A claim that was taken for a movement which then could no longer be posted is given back.
      const idle = [...claimed].filter((i) => decision.outcomes[i] !== 'posted').map((i) => claimOf(movements[i]!))
      if (idle.length > 0) await deleteClaims(tx, idle)
      return decision
    }
  }
}

function claimOf(movement: Movement): WrittenClaim {
  return (movement as Extract<Movement, { type: 'transfer' }>).claim!
}
