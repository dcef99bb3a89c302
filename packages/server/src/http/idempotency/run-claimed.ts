import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Db } from '#db/database.ts'
import { limits } from '@atrium/contract/limits'
import { isLocked } from '@atrium/traffic/database-errors'
import { HeldElsewhere } from '@atrium/traffic/overloaded'
import { ApiError } from '#errors/api-error.ts'
import type { AskedClaim, Claim, KeptAnswer, SentAnswer } from './claim.ts'
import { assertTableFree, findAnswer, insertClaim } from './store.ts'

/** Thrown while the effect is written, if the claim's row already exists. */
export class ClaimTaken extends Error {}

/**
 * Another process still runs a request with this key. isLocked treats it as a lock, so the caller waits as for any
 * other.
 */
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

/** Opens a stored answer with the caller's key. */
type Open = (sealed: Buffer) => KeptAnswer

/** The claims that run in this process. A repeat waits for them in memory, without a connection. */
const running = new Map<string, { attempt: Promise<unknown>; bodyHash: Buffer }>()
/** The number of repeats that wait for one of these claims. */
let waiting = 0
const maxWaiting = 1_000
const pollIntervalMs = 200

/**
 * Throws for a caller without access. Given where `run` checks the access: a stored answer is then replayed without this
 * check only if the same credential sent the same request. Absent: the access was checked before.
 */
type AssertAccess = () => Promise<unknown>

/** Runs a request once for its Idempotency-Key, or replays the stored answer. */
export async function runClaimed(
  db: Database,
  claim: Claim,
  run: () => Promise<SentAnswer>,
  open: Open,
  assertAccess?: AssertAccess,
): Promise<ClaimedAnswer> {
  const deadlineMs = performance.now() + limits.idempotencyWaitMs
  const id = runningId(claim)
  for (;;) {
    const first = running.get(id)
    if (!first) break
    await assertAccess?.()
    await settledBy(first.attempt, deadlineMs)
    const replay = await findReplay(db, claim, open, assertAccess)
    if (replay) return replay
  }
  const attempt = runOrReplay(db, claim, run, open, deadlineMs, assertAccess)
  running.set(id, { attempt, bodyHash: claim.bodyHash })
  try {
    return await attempt
  } finally {
    running.delete(id)
  }
}

function runningId({ scope, keyHash }: Pick<Claim, 'scope' | 'keyHash'>): string {
  return `${scope}:${keyHash.toString('base64')}`
}

export type Outcome = { state: 'none' } | { state: 'in_progress' } | { state: 'done'; answer: KeptAnswer; expiresAt: string }

/**
 * What became of the request with this claim. A request with another body is 'none', so that the caller learns
 * nothing of it.
 */
export async function findOutcome(db: Db, claim: AskedClaim, open: Open): Promise<Outcome> {
  const first = running.get(runningId(claim))
  if (first) return { state: claim.isSameBody(first.bodyHash) ? 'in_progress' : 'none' }
  const stored = await findAnswer(db, claim)
  if (!stored || !claim.isSameBody(stored.bodyHash)) return { state: 'none' }
  return { state: 'done', answer: open(stored.answer), expiresAt: stored.expiresAt }
}

async function runOrReplay(
  db: Database,
  claim: Claim,
  run: () => Promise<SentAnswer>,
  open: Open,
  deadlineMs: number,
  assertAccess: AssertAccess | undefined,
): Promise<ClaimedAnswer> {
  // A key that is freed between the two checks (its first request failed, its row expired) is claimed in the next
  // iteration.
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
    // The first request may have succeeded although this one fails (the collection has closed since), so its answer is
    // replayed.
    const replay = await findReplay(db, claim, open, assertAccess)
    if (replay) return replay
    if (isRefusal(refusal)) throw refusal
  }
  throw inProgress()
}

async function isFreedBefore(db: Database, claim: Claim, deadlineMs: number): Promise<boolean> {
  for (;;) {
    const leftMs = deadlineMs - performance.now()
    if (leftMs <= 0) return false
    await delay(Math.min(pollIntervalMs, leftMs))
    if (!(await isHeld(db, claim))) return true
  }
}

/**
 * Whether another process still runs a request with this key. Inserts nothing. Throws if the table itself is locked: then
 * no request needs to have the key.
 */
async function isHeld(db: Database, claim: Claim): Promise<boolean> {
  const notKept = new Error('only tried')
  const insert = db.transactionOnce(async (tx) => {
    await insertClaim(tx, claim)
    throw notKept
  })
  if (!(await insert.catch((error: unknown) => isLocked(error)))) return false
  await assertTableFree(db, claim)
  return true
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500
}

/** The stored answer, if there is one. Throws if its request had another body or query. */
async function findReplay(
  db: Database,
  claim: Claim,
  open: Open,
  assertAccess: AssertAccess | undefined,
): Promise<ClaimedAnswer | undefined> {
  const stored = await findAnswer(db, claim)
  if (!stored) return undefined
  const isSameBody = claim.isSameBody(stored.bodyHash)
  const answer = isSameBody ? open(stored.answer) : undefined
  if (!answer || answer.proof === undefined || answer.proof !== claim.proof) await assertAccess?.()
  if (!answer) throw new ApiError('idempotency_key_reused')
  if (claim.bindsProof && answer.proof !== undefined && answer.proof !== claim.proof)
    throw new ApiError('idempotency_key_reused', { message: 'The Idempotency-Key was used with another query' })
  return { answer, status: 'replayed', expiresAt: stored.expiresAt }
}

/**
 * For a caller without access, because the collection is gone or its tokens have changed: replays the stored answer of
 * the same request if that had the same token. With the Idempotency-Key alone a caller is rejected like any other.
 */
export async function replayOrRefuse(db: Database, claim: Claim, refusal: unknown, open: Open): Promise<ClaimedAnswer> {
  const stored = isRefusal(refusal) ? await findAnswer(db, claim) : undefined
  if (!stored || !claim.isSameBody(stored.bodyHash)) throw refusal
  const answer = open(stored.answer)
  if (answer.proof === undefined || answer.proof !== claim.proof) throw refusal
  return { answer, status: 'replayed', expiresAt: stored.expiresAt }
}

/** For a handler that calls another service before it writes: replays a stored answer instead of a second call. */
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
  // A failure of the first request is reported to its own caller.
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
