import type { Context } from './context.ts'
import { expireUploads } from './features/artifacts/removal/expire-uploads.ts'
import { removeBlobs } from './features/artifacts/removal/remove-blobs.ts'
import { removeOrphans } from './features/artifacts/removal/remove-orphans.ts'
import { sweepLedger } from './features/credits/ledger/sweep-ledger.ts'
import { announceExpiringKeys } from './features/keys/announce-expiring-keys.ts'
import { endOverdue } from './features/sessions/end-overdue.ts'
import { forgetOldEvents } from './features/webhooks/forget-old-events.ts'
import { deleteExpired } from './http/idempotency/store.ts'

const batchSize = 1_000

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
    { name: 'ended holds and coupons', everyMs: 5_000, run: () => sweepLedger(ctx.db, ctx.ledger, batchSize) },
    { name: 'sessions whose time is up', everyMs: 5_000, run: () => endOverdue(ctx, batchSize) },
    { name: 'half-written files', everyMs: 10 * 60_000, run: () => ctx.blobs.sweep() },
    { name: 'folders of pictures', everyMs: 10 * 60_000, run: () => ctx.pictures.sweep() },
    { name: 'stored files of what was deleted', everyMs: 5_000, run: () => removeBlobs(ctx, batchSize) },
    { name: 'uploads never completed', everyMs: 60_000, run: () => expireUploads(ctx, batchSize) },
    { name: 'stored files of nothing', everyMs: 5 * 60_000, run: () => removeOrphans(ctx) },
    { name: 'keys about to expire', everyMs: 60_000, run: () => announceExpiringKeys(ctx.db, batchSize) },
    { name: 'old events', everyMs: 60_000, run: () => forgetOldEvents(ctx.db, batchSize) },
    { name: 'audit of the books', everyMs: 10 * 60_000, run: () => auditIntoMetrics(ctx) },
  ]
  const state = { stopped: false }
  const timers = sweeps.map((sweep) => setInterval(() => void runSweep(ctx, state, sweep), sweep.everyMs).unref())
  return () => {
    state.stopped = true
    for (const timer of timers) clearInterval(timer)
  }
}

async function runSweep(ctx: Context, state: { stopped: boolean }, { name, run }: Sweep): Promise<void> {
  try {
    while (!state.stopped && (await run()) === batchSize);
  } catch (error) {
    ctx.log.error({ err: error }, `not swept: ${name}`)
  }
}

async function auditIntoMetrics(ctx: Context): Promise<number> {
  const report = await ctx.auditor.audit()
  ctx.metrics.audited(report)
  for (const finding of report.findings) ctx.log.error({ finding }, 'the books are wrong')
  return 0
}
