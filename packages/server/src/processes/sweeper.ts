import { randomUUID } from 'node:crypto'
import type { Context } from '#features/context.ts'
import { expireUploads } from '#features/artifacts/uploads/complete-upload.ts'
import { deleteBlobs } from '#features/blob-deletions/delete-blobs.ts'
import { deleteOrphans } from '#features/artifacts/delete-orphans.ts'
import { lastProof } from '#features/credits/ledger/audit.ts'
import { sweepLedger } from '#features/credits/ledger/ledger.ts'
import { deletePastCounts } from '#features/limits/daily-limits.ts'
import { announceExpiringKeys } from '#features/keys/issue-key.ts'
import { forgetCheckouts } from '#features/credits/checkout/store.ts'
import { forgetSessions } from '#features/sessions/retention-store.ts'
import { endOverdue } from '#features/sessions/session-transitions.ts'
import { forgetOldEvents } from '#features/webhooks/delivery-store.ts'
import { deleteExpired } from '#http/idempotency/store.ts'
import { runLeased } from './sweeping/run-leased.ts'
import { insertSweeps } from './sweeping/store.ts'

const batchSize = 1_000
/** Each is a transaction of its own, one after the other. */
const sessionsAtOnce = 100

interface Sweep {
  name: string
  everyMs: number
  /** Handles up to batchSize of what is due; says how many there were. */
  run: () => Promise<number>
  /** Of this machine's own files: each process does it for itself. All others are done by one process at a time. */
  local?: true
  /** Called by every process each time, whichever of them did it. */
  after?: () => Promise<void>
}

/**
 * Does what falls due by the clock. Two processes may do the same at once: what another one does is skipped, or done
 * only once.
 */
export function startSweeper(ctx: Context): () => void {
  const sweeps: Sweep[] = [
    { name: 'expired idempotency keys', everyMs: 60_000, run: () => deleteExpired(ctx.db, batchSize) },
    { name: 'sessions, holds and coupons whose time is up', everyMs: 5_000, run: () => settleOverdue(ctx) },
    { name: 'half-written files', everyMs: 10 * 60_000, run: () => ctx.blobs.sweep(), local: true },
    { name: 'folders of pictures', everyMs: 10 * 60_000, run: () => ctx.pictures.sweep(), local: true },
    { name: 'stored files of what was deleted', everyMs: 5_000, run: () => deleteBlobs(ctx, batchSize) },
    { name: 'uploads never completed', everyMs: 60_000, run: () => expireUploads(ctx, batchSize) },
    { name: 'stored files of nothing', everyMs: 5 * 60_000, run: () => deleteOrphans(ctx) },
    { name: 'keys about to expire', everyMs: 60_000, run: () => announceExpiringKeys(ctx.db, batchSize) },
    { name: 'counts of days that are over', everyMs: 60_000, run: () => deletePastCounts(ctx, batchSize) },
    { name: 'old events', everyMs: 60_000, run: () => forgetOldEvents(ctx.db, batchSize, ctx.config.retentionDays.events) },
    { name: 'old sessions', everyMs: 60_000, run: () => forgetSessions(ctx.db, ctx.config.retentionDays.sessions, batchSize) },
    { name: 'old checkouts', everyMs: 60_000, run: () => forgetCheckouts(ctx.db, ctx.config.retentionDays.checkouts, batchSize) },
    { name: 'audit of the books', everyMs: 60_000, run: () => prove(ctx), after: () => showProof(ctx) },
  ]
  const state = { stopped: false, holder: randomUUID(), known: false }
  const timers = sweeps.map((sweep) =>
    setInterval(
      oneAtATime(() => runSweep(ctx, state, sweeps, sweep)),
      sweep.everyMs,
    ).unref(),
  )
  return () => {
    state.stopped = true
    for (const timer of timers) clearInterval(timer)
  }
}

/** What takes longer than its interval is not begun a second time beside itself. */
function oneAtATime(run: () => Promise<void>): () => void {
  let running = false
  return () => {
    if (running) return
    running = true
    void run().finally(() => {
      running = false
    })
  }
}

interface State {
  stopped: boolean
  /** Names this process in the leases. */
  holder: string
  /** Whether the leases have a row for each sweep. */
  known: boolean
}

async function runSweep(ctx: Context, state: State, sweeps: Sweep[], sweep: Sweep): Promise<void> {
  const { name, everyMs, run, local, after } = sweep
  const runAll = async (isOurs: () => boolean) => {
    while (!state.stopped && isOurs() && (await run()) === batchSize);
  }
  try {
    if (local) return await runAll(() => true)
    if (!state.known)
      await insertSweeps(
        ctx.db,
        sweeps.flatMap((one) => (one.local ? [] : [one.name])),
      )
    state.known = true
    const onRanAt = (at: string) => ctx.metrics.swept(name, Date.parse(at))
    await runLeased({ db: ctx.db, name, holder: state.holder, everyMs, run: runAll, onRanAt })
    await after?.()
  } catch (error) {
    // Also what is written while the process stops.
    if (!state.stopped) ctx.log.error({ err: error }, `not swept: ${name}`)
  }
}

/**
 * The sessions first, to the last one, and only then the books: after a long standstill the hold of a session that
 * worked is past its end too, and must be captured, not released. The hold of a session that could not be ended waits
 * for it.
 */
async function settleOverdue(ctx: Context): Promise<number> {
  const { looked, failed } = await endOverdue(ctx, sessionsAtOnce)
  if (looked < sessionsAtOnce) return sweepLedger(ctx.db, ctx.ledger, batchSize, failed)
  if (failed.length === looked) throw new Error(`none of ${looked} sessions could be ended`)
  return batchSize
}

async function prove(ctx: Context): Promise<number> {
  const { findings } = await ctx.prover.run()
  for (const finding of findings) ctx.log.error({ finding }, 'the books are wrong')
  return 0
}

/** Every process shows the result of the last proof, whichever of them made it. */
async function showProof(ctx: Context): Promise<void> {
  const proof = await lastProof(ctx.db)
  if (proof) ctx.metrics.audited(proof)
}
