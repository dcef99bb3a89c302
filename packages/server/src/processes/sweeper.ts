import { randomUUID } from 'node:crypto'
import type { Context } from '#features/context.ts'
import { removeOldEntries } from '#features/audit-log/record-audit.ts'
import { expireUploads } from '#features/artifacts/uploads/complete-upload.ts'
import { deleteBlobs } from '#features/blob-deletions/delete-blobs.ts'
import { deleteOrphans } from '#features/artifacts/delete-orphans.ts'
import { recordCertificate } from '#features/installation/space-certificate.ts'
import { lastProof } from '#features/credits/ledger/audit.ts'
import { deleteEnded } from '#features/console/session-store.ts'
import { deletePastCounts } from '#features/limits/limits.ts'
import { announceExpiringKeys } from '#features/keys/issue-key.ts'
import { forgetCheckouts } from '#features/credits/checkout/store.ts'
import { forgetSessions } from '#features/sessions/retention-store.ts'
import { turnSlots } from '#features/partitions/turn-slots.ts'
import { eraseTenants } from '#features/tenant-data/erase-tenants.ts'
import { forgetOldEvents } from '#features/webhooks/delivery-store.ts'
import { deleteExpiredFrom } from '#http/idempotency/store.ts'
import { collectPastItems } from '#features/usage/store.ts'
import { logAgentCards } from '#features/agents/log-cards.ts'
import { logBooks } from '#features/credits/books/log-books.ts'
import { logEventHeads } from '#features/events/daily-root/log-heads.ts'
import { logEpochs } from '#features/credits/epochs/log-epochs.ts'
import { collectAppPage, collectCertificate, collectSigningKeys } from '#features/transparency-log/collect-entries.ts'
import { integrateLeaves } from '#features/transparency-log/integrate.ts'
import { logOrigin, publishCheckpoint } from '#features/transparency-log/publish.ts'
import { collectCosignatures } from '#features/transparency-log/witnesses.ts'
import { startMover } from './sweeping/move-waiting.ts'
import { OverdueSweep } from './sweeping/overdue-sweep.ts'
import { runLeased } from './sweeping/run-leased.ts'
import { insertSweeps } from '#features/installation/sweep-store.ts'

const batchSize = 1_000

interface Sweep {
  name: string
  intervalMs: number
  /** Does what is due. Resolves to batchSize if more may be due: then it is called again at once. */
  run: () => Promise<number | void>
  /**
   * For files of this machine, each process runs the sweep itself. All other sweeps are run by one process at a
   * time.
   */
  local?: true
  /** Called by every process at each interval, whichever process ran the sweep. */
  after?: () => Promise<void>
}

/**
 * Runs the periodic tasks. Two processes may run one at the same time: rows that another process handles are
 * skipped, or handled only once.
 */
export function startSweeper(ctx: Context): () => void {
  const stopping = new AbortController()
  const deleteExpired = deleteExpiredFrom(ctx.db)
  const overdue = new OverdueSweep(ctx, batchSize, startMover(ctx, stopping.signal))
  const sweeps: Sweep[] = [
    { name: 'expired idempotency keys', intervalMs: 60_000, run: () => deleteExpired(batchSize) },
    {
      name: 'sessions, holds and coupons whose time is up',
      intervalMs: 5_000,
      run: () => overdue.run(),
      after: async () => overdue.end(),
    },
    { name: 'half-written files', intervalMs: 10 * 60_000, run: () => ctx.blobs.sweep(), local: true },
    { name: 'folders of pictures', intervalMs: 10 * 60_000, run: () => ctx.pictures.sweep(), local: true },
    { name: 'stored files of what was deleted', intervalMs: 5_000, run: () => deleteBlobs(ctx, batchSize) },
    { name: 'uploads never completed', intervalMs: 60_000, run: () => expireUploads(ctx, batchSize) },
    { name: 'stored files of nothing', intervalMs: 5 * 60_000, run: () => deleteOrphans(ctx) },
    { name: 'keys about to expire', intervalMs: 60_000, run: () => announceExpiringKeys(ctx.db, batchSize) },
    { name: 'counts of days that are over', intervalMs: 60_000, run: () => deletePastCounts(ctx, batchSize) },
    { name: 'items of past days', intervalMs: 60_000, run: () => collectPastItems(ctx.db, batchSize) },
    {
      name: 'old events',
      intervalMs: 60_000,
      run: () => forgetOldEvents(ctx.db, batchSize, ctx.config.retentionDays.events, ctx.tenantShards),
    },
    { name: 'slots of partitions', intervalMs: 60_000, run: () => turnSlots(ctx.db, ctx.config.retentionDays) },
    { name: 'old sessions', intervalMs: 60_000, run: () => forgetSessions(ctx.db, ctx.config.retentionDays.sessions, batchSize) },
    {
      name: 'old checkouts',
      intervalMs: 60_000,
      run: () => forgetCheckouts(ctx.db, ctx.config.retentionDays.checkouts, batchSize),
    },
    // The name is new: migration 0140 keeps the lease of "erasure of tenants" from the release before it.
    { name: 'data of deleted tenants', intervalMs: 5_000, run: async () => ((await eraseTenants(ctx)) ? batchSize : 0) },
    { name: 'old audit entries', intervalMs: 60_000, run: () => removeAllOldEntries(ctx) },
    { name: 'ended sessions of the console', intervalMs: 60_000, run: () => deleteEnded(ctx.db, batchSize) },
    { name: 'audits that operators asked for', intervalMs: 5_000, run: () => ctx.askedAudits.run() },
    { name: 'certificate of the Space service', intervalMs: 60_000, run: () => recordCertificate(ctx) },
    { name: 'entries of the log', intervalMs: 10_000, run: () => collectLogEntries(ctx, batchSize) },
    { name: 'page of the Space app', intervalMs: 60_000, run: () => collectAppPage(ctx) },
    { name: 'root of the books', intervalMs: 60_000, run: () => logBooks(ctx) },
    { name: 'root of the events', intervalMs: 60_000, run: () => logEventHeads(ctx) },
    { name: 'growth of the log', intervalMs: 2_000, run: () => growLog(ctx) },
    {
      name: 'witnesses of the log',
      intervalMs: 10_000,
      run: async () => void (await collectCosignatures(ctx, logOrigin(ctx.config.publicUrl))),
    },
    { name: 'audit of the books', intervalMs: 60_000, run: () => prove(ctx), after: () => showProof(ctx) },
  ]
  const state = { stopped: false, holder: randomUUID(), known: false, startedAtMs: Date.now() }
  const timers = sweeps.map((sweep) =>
    setInterval(
      oneAtATime(() => runSweep(ctx, state, sweeps, sweep)),
      sweep.intervalMs,
    ).unref(),
  )
  return () => {
    state.stopped = true
    stopping.abort()
    for (const timer of timers) clearInterval(timer)
  }
}

/** A sweep that takes longer than its interval does not run twice at once. */
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
  /** Identifies this process in the leases. */
  holder: string
  /** Whether the leases table has a row for each sweep. */
  known: boolean
  /** Shown for a sweep that has never completed, so that it is noticed too. */
  startedAtMs: number
}

async function runSweep(ctx: Context, state: State, sweeps: Sweep[], sweep: Sweep): Promise<void> {
  const { name, intervalMs, run, local, after } = sweep
  const runAll = async (isOurs: () => boolean) => {
    while (!state.stopped && isOurs() && (await run()) === batchSize);
  }
  try {
    if (local) return await runAll(() => true)
    if (!state.known)
      await insertSweeps(
        ctx.db,
        sweeps.filter((one) => !one.local),
      )
    state.known = true
    const onRanAt = (at: string | undefined) => ctx.metrics.swept(name, at === undefined ? state.startedAtMs : Date.parse(at))
    try {
      await runLeased({ db: ctx.db, name, holder: state.holder, intervalMs, run: runAll, onRanAt })
    } finally {
      await after?.()
    }
  } catch (error) {
    // Includes rows that are written while the process stops.
    if (state.stopped) return
    ctx.metrics.sweepFailed(name)
    ctx.log.error({ err: error }, `not swept: ${name}`)
  }
}

/** Removes up to 10,000 entries at a time, until none is left. */
async function removeAllOldEntries(ctx: Context): Promise<void> {
  while ((await removeOldEntries(ctx.db, ctx.config.retentionDays.audit)) > 0);
}

async function prove(ctx: Context): Promise<void> {
  const { findings } = await ctx.prover.run()
  for (const finding of findings) ctx.log.error({ finding }, 'the books are wrong')
}

/** At each interval, so that tenants with many agents fill the log slowly. */
const cardsAtOnce = 100

/** Lists come first: they are read from this database, and the Space service may not answer. */
async function collectLogEntries(ctx: Context, limit: number): Promise<number> {
  await collectSigningKeys(ctx)
  const count = await logEpochs(ctx, limit)
  await logAgentCards(ctx, cardsAtOnce)
  if (count < limit) await collectCertificate(ctx)
  return count
}

/** Leaves of one transaction: at most three tiles of level 0 are written. */
const leavesAtOnce = 512

async function growLog(ctx: Context): Promise<void> {
  while ((await integrateLeaves(ctx.db, leavesAtOnce)) === leavesAtOnce);
  await publishCheckpoint(ctx)
}

/** Every process shows the result of the last audit step, whichever process ran it. */
async function showProof(ctx: Context): Promise<void> {
  const proof = await lastProof(ctx.db)
  if (proof) ctx.metrics.audited(proof)
}
