import type { Context } from './context.ts'
import { expireUploads } from './features/artifacts/removal/expire-uploads.ts'
import { removeBlobs } from './features/artifacts/removal/remove-blobs.ts'
import { removeOrphans } from './features/artifacts/removal/remove-orphans.ts'
import { sweepLedger } from './features/credits/ledger/sweep-ledger.ts'
import { forgetPastCounts } from './features/limits/daily-limits.ts'
import { announceExpiringKeys } from './features/keys/announce-expiring-keys.ts'
import { forgetCheckouts } from './features/credits/checkout/forget-checkouts.ts'
import { endOverdue } from './features/sessions/end-overdue.ts'
import { forgetSessions } from './features/sessions/forget-sessions.ts'
import { forgetOldEvents } from './features/webhooks/forget-old-events.ts'
import { deleteExpired } from './http/idempotency/store.ts'

const batchSize = 1_000
/** Each is a transaction of its own, one after the other. */
const sessionsAtOnce = 100

interface Sweep {
  name: string
  everyMs: number
  /** Handles up to batchSize of what is due; says how many there were. */
  run: () => Promise<number>
}

/** Does what falls due by the clock. Every process may do it at the same time: what another one does is skipped, or done only once. */
export function startSweeper(ctx: Context): () => void {
  const sweeps: Sweep[] = [
    { name: 'expired idempotency keys', everyMs: 60_000, run: () => deleteExpired(ctx.db, batchSize) },
    { name: 'sessions, holds and coupons whose time is up', everyMs: 5_000, run: () => settleOverdue(ctx) },
    { name: 'half-written files', everyMs: 10 * 60_000, run: () => ctx.blobs.sweep() },
    { name: 'folders of pictures', everyMs: 10 * 60_000, run: () => ctx.pictures.sweep() },
    { name: 'stored files of what was deleted', everyMs: 5_000, run: () => removeBlobs(ctx, batchSize) },
    { name: 'uploads never completed', everyMs: 60_000, run: () => expireUploads(ctx, batchSize) },
    { name: 'stored files of nothing', everyMs: 5 * 60_000, run: () => removeOrphans(ctx) },
    { name: 'keys about to expire', everyMs: 60_000, run: () => announceExpiringKeys(ctx.db, batchSize) },
    { name: 'counts of days that are over', everyMs: 60_000, run: () => forgetPastCounts(ctx, batchSize) },
    { name: 'old events', everyMs: 60_000, run: () => forgetOldEvents(ctx.db, batchSize, ctx.config.retentionDays.events) },
    { name: 'old sessions', everyMs: 60_000, run: () => forgetSessions(ctx.db, ctx.config.retentionDays.sessions, batchSize) },
    { name: 'old checkouts', everyMs: 60_000, run: () => forgetCheckouts(ctx.db, ctx.config.retentionDays.checkouts, batchSize) },
    { name: 'audit of the books', everyMs: 10 * 60_000, run: () => auditIntoMetrics(ctx) },
  ]
  const state = { stopped: false }
  const timers = sweeps.map((sweep) =>
    setInterval(
      oneAtATime(() => runSweep(ctx, state, sweep)),
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

async function runSweep(ctx: Context, state: { stopped: boolean }, { name, run }: Sweep): Promise<void> {
  try {
    while (!state.stopped && (await run()) === batchSize);
  } catch (error) {
    ctx.log.error({ err: error }, `not swept: ${name}`)
  }
}

/**
 * The sessions first, to the last one, and only then the books: after a long standstill the hold of a session that worked is past its end
 * too, and must be captured, not released. The hold of a session that could not be ended waits for it.
 */
async function settleOverdue(ctx: Context): Promise<number> {
  const { looked, failed } = await endOverdue(ctx, sessionsAtOnce)
  if (looked < sessionsAtOnce) return sweepLedger(ctx.db, ctx.ledger, batchSize, failed)
  if (failed.length === looked) throw new Error(`none of ${looked} sessions could be ended`)
  return batchSize
}

async function auditIntoMetrics(ctx: Context): Promise<number> {
  const report = await ctx.auditor.run()
  ctx.metrics.audited(report)
  for (const finding of report.findings) ctx.log.error({ finding }, 'the books are wrong')
  return 0
}
