import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Db } from '#db/database.ts'
import { limits } from '@atrium/contract/limits'
import { isLocked } from '@atrium/traffic/database-errors'
import { HeldElsewhere } from '@atrium/traffic/overloaded'
import { ApiError } from '#errors/api-error.ts'
import type { Claim, KeptAnswer, SentAnswer } from './claim.ts'
import { findAnswer, insertClaim } from './store.ts'

/** Thrown by whoever writes the effect when the claim's row was there already. */
export class ClaimTaken extends Error {}

/** Another process's request under this key still runs. A lock, as isLocked understands it: it is waited for like any other. */
export class ClaimInProgress extends Error {
  readonly code = '55P03'

  constructor(cause: unknown) {
    super('another request holds this Idempotency-Key', { cause })
    this.name = 'ClaimInProgress'
  }
}

export interface ClaimedAnswer {
  answer: SentAnswer
  status: 'stored' | 'replayed'
  expiresAt: string
}

/** Opens a kept answer with the caller's key. */
type Open = (sealed: Buffer) => KeptAnswer

/** The claims that run in this process, so that a repeat waits in memory and holds no connection. */
const running = new Map<string, Promise<unknown>>()
/** Repeats that wait for one of those. */
let waiting = 0
const maxWaiting = 1_000
const lookEveryMs = 200

/** Runs a request once for its Idempotency-Key, or replays the answer of the time it ran. */
export async function runClaimed(db: Database, claim: Claim, run: () => Promise<SentAnswer>, open: Open): Promise<ClaimedAnswer> {
  const deadlineMs = performance.now() + limits.idempotencyWaitMs
  const id = `${claim.scope}:${claim.keyHash.toString('base64')}`
  for (;;) {
    const first = running.get(id)
    if (!first) break
    await settledBy(first, deadlineMs)
    const replay = await findReplay(db, claim, open)
    if (replay) return replay
  }
  const attempt = runOrReplay(db, claim, run, open, deadlineMs)
  running.set(id, attempt)
  try {
    return await attempt
  } finally {
    running.delete(id)
  }
}

async function runOrReplay(
  db: Database,
  claim: Claim,
  run: () => Promise<SentAnswer>,
  open: Open,
  deadlineMs: number,
): Promise<ClaimedAnswer> {
  // A key that was freed between the two looks (its first request failed, its row expired) is taken at the next turn.
  for (let turn = 0; turn < 3;) {
    let refusal: unknown
    try {
      return { answer: await run(), status: 'stored', expiresAt: claim.expiresAt }
    } catch (error) {
      if (error instanceof ClaimInProgress || (error instanceof HeldElsewhere && (await isHeld(db, claim)))) {
        if (await isFreedBefore(db, claim, deadlineMs)) continue
        throw inProgress()
      }
      if (!(error instanceof ClaimTaken) && !isRefusal(error)) throw error
      refusal = error
      turn++
    }
    // What no longer goes may have gone the first time (the collection closed since, a time is over): the answer that was given counts.
    const replay = await findReplay(db, claim, open)
    if (replay) return replay
    if (isRefusal(refusal)) throw refusal
  }
  throw inProgress()
}

async function isFreedBefore(db: Database, claim: Claim, deadlineMs: number): Promise<boolean> {
  for (;;) {
    const leftMs = deadlineMs - performance.now()
    if (leftMs <= 0) return false
    await delay(Math.min(lookEveryMs, leftMs))
    if (!(await isHeld(db, claim))) return true
  }
}

/** Whether another process's request under this key still runs. Inserts nothing. */
async function isHeld(db: Database, claim: Claim): Promise<boolean> {
  const notKept = new Error('only tried')
  const insert = db.transactionOnce(async (tx) => {
    await insertClaim(tx, claim)
    throw notKept
  })
  return insert.catch((error: unknown) => isLocked(error))
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500
}

/** The kept answer, if there is one; throws when it was to another body. */
async function findReplay(db: Database, claim: Claim, open: Open): Promise<ClaimedAnswer | undefined> {
  const stored = await findAnswer(db, claim)
  if (!stored) return undefined
  if (!claim.isSameBody(stored.bodyHash)) throw new ApiError('idempotency_key_reused')
  return { answer: open(stored.answer), status: 'replayed', expiresAt: stored.expiresAt }
}

/**
 * For a caller who was not let in, because the collection is gone or asks for another token by now: the answer that was kept of this very
 * request, if it bore the very same token then. Whoever merely knows the key is refused as any other, and learns nothing of it.
 */
export async function replayOrRefuse(db: Database, claim: Claim, refusal: unknown, open: Open): Promise<ClaimedAnswer> {
  const stored = isRefusal(refusal) ? await findAnswer(db, claim) : undefined
  if (!stored || !claim.isSameBody(stored.bodyHash)) throw refusal
  const answer = open(stored.answer)
  if (answer.proof === undefined || answer.proof !== claim.proof) throw refusal
  return { answer, status: 'replayed', expiresAt: stored.expiresAt }
}

/** For a handler that asks others before it writes: what was answered before is replayed, and they are not asked again. */
export async function assertUnanswered(db: Db, claim: Pick<Claim, 'scope' | 'keyHash'> | undefined): Promise<void> {
  if (claim && (await findAnswer(db, claim))) throw new ClaimTaken()
}

async function settledBy(promise: Promise<unknown>, deadlineMs: number): Promise<void> {
  const waitMs = deadlineMs - performance.now()
  if (waitMs <= 0 || waiting >= maxWaiting) throw inProgress()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(inProgress()), waitMs)
  })
  // How the first one ended is its own caller's business.
  const settled = promise.catch(() => undefined)
  waiting++
  try {
    await Promise.race([settled, late])
  } finally {
    waiting--
    clearTimeout(timer)
  }
}

function inProgress(): ApiError {
  return new ApiError('idempotency_in_progress', { retryAfterSeconds: 1 })
}
