import type { Db } from '../../db/database.ts'
import { limits } from '@atrium/contract/limits'
import { sqlState, sqlStateOf } from '../../db/sql-errors.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../api-error.ts'
import type { Claim, KeptAnswer, SentAnswer } from './claim.ts'
import { findAnswer } from './store.ts'

/** Thrown by whoever writes the effect when the claim's row was there already. */
export class ClaimTaken extends Error {}

export interface ClaimedAnswer {
  answer: SentAnswer
  status: 'stored' | 'replayed'
  expiresAt: string
}

/** Opens a kept answer with the caller's key. */
type Open = (sealed: Buffer) => KeptAnswer

/** The claims that run in this process, so that a repeat waits in memory and holds no connection. */
const running = new Map<string, Promise<unknown>>()

/** Runs a request once for its Idempotency-Key, or replays the answer of the time it ran. */
export async function runClaimed(ctx: Context, claim: Claim, run: () => Promise<SentAnswer>, open: Open): Promise<ClaimedAnswer> {
  const deadlineMs = performance.now() + limits.idempotencyWaitMs
  const id = `${claim.scope}:${claim.keyHash.toString('base64')}`
  for (;;) {
    const first = running.get(id)
    if (!first) break
    await settledBy(first, deadlineMs)
    const replay = await findReplay(ctx, claim, open)
    if (replay) return replay
  }
  const attempt = runOrReplay(ctx, claim, run, open)
  running.set(id, attempt)
  try {
    return await attempt
  } finally {
    running.delete(id)
  }
}

async function runOrReplay(ctx: Context, claim: Claim, run: () => Promise<SentAnswer>, open: Open): Promise<ClaimedAnswer> {
  // A key that was freed between the two looks (its first request failed, its row expired) is taken at the next turn.
  for (let turn = 0; turn < 3; turn++) {
    let refusal: unknown
    try {
      return { answer: await run(), status: 'stored', expiresAt: claim.expiresAt }
    } catch (error) {
      if (sqlStateOf(error) === sqlState.lockNotAvailable) throw inProgress()
      if (!(error instanceof ClaimTaken) && !isRefusal(error)) throw error
      refusal = error
    }
    // What no longer goes may have gone the first time (the collection closed since, a time is over): the answer that was given counts.
    const replay = await findReplay(ctx, claim, open)
    if (replay) return replay
    if (isRefusal(refusal)) throw refusal
  }
  throw inProgress()
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500
}

/** The kept answer, if there is one; throws when it was to another body. */
async function findReplay(ctx: Context, claim: Claim, open: Open): Promise<ClaimedAnswer | undefined> {
  const stored = await findAnswer(ctx.db, claim)
  if (!stored) return undefined
  if (!stored.bodyHash.equals(claim.bodyHash)) throw new ApiError('idempotency_key_reused')
  return { answer: open(stored.answer), status: 'replayed', expiresAt: stored.expiresAt }
}

/**
 * For a caller who was not let in, because the collection is gone or asks for another token by now: the answer that was kept of this very
 * request, if it bore the very same token then. Whoever merely knows the key is refused as any other, and learns nothing of it.
 */
export async function replayOrRefuse(ctx: Context, claim: Claim, refusal: unknown, open: Open): Promise<ClaimedAnswer> {
  const stored = isRefusal(refusal) ? await findAnswer(ctx.db, claim) : undefined
  if (!stored?.bodyHash.equals(claim.bodyHash)) throw refusal
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
  if (waitMs <= 0) throw inProgress()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(inProgress()), waitMs)
  })
  // How the first one ended is its own caller's business.
  const settled = promise.catch(() => undefined)
  try {
    await Promise.race([settled, late])
  } finally {
    clearTimeout(timer)
  }
}

function inProgress(): ApiError {
  return new ApiError('idempotency_in_progress', { retryAfterSeconds: 1 })
}
