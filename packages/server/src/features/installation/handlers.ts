import { limits } from '@atrium/contract/limits'
import { contractVersion } from '@atrium/contract/openapi'
import { readRelease } from '#config/release.ts'
import { assertNotHalfRestored, comparePendingWork } from '#db/migrate.ts'
import { listApplied } from '#db/schema-state.ts'
import { listFunctions } from '#db/sql-functions.ts'
import { recordAudit } from '#features/audit-log/record-audit.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { cutPageBy, makeTimeCursor, readTimeCursor } from '#http/cursor.ts'
import { countSealing, listProcesses as processesOf, type RunningProcess } from './process-store.ts'
import { ByShard } from '../distribution/by-shard.ts'
import { logOrigin } from '../transparency-log/publish.ts'
import { findStopped } from '../transparency-log/witnesses.ts'
import { measureQueues } from './queue-store.ts'
import { spaceCertificateHandlers } from './space-certificate.ts'
import { storageHandlers } from './storage.ts'
import { listSweeps } from './sweep-store.ts'
import { findDatabaseVersions } from './version-store.ts'

const resealSecrets: HandlerOf<'resealSecrets'> = async ({ ctx, audit }) => {
  // Recorded before the resealing: it changes no value, and an interrupted call must be recorded too.
  await ctx.db.transaction((tx) => recordAudit(tx, audit))
  // Counted before it, too: what a process seals until it ends is then resealed, or listed.
  const sealing = await countSealing(ctx.db)
  const { resealed, keys } = await ctx.resealer.run()
  const needs = keys.map(({ answersUntil, ...same }) => {
    return { ...same, answers_until: answersUntil, processes: sealing.get(same.id) ?? 0 }
  })
  return { status: 200, data: { resealed, keys: needs } }
}

const list = 'processes'

const listProcesses: HandlerOf<'listProcesses'> = async ({ ctx, query }) => {
  const { limit = limits.pageDefault } = query
  const rows = await processesOf(ctx.db, readTimeCursor(list, query.cursor), limit + 1)
  const { page, nextCursor } = cutPageBy(rows, limit, ({ startedAt, id }) => makeTimeCursor(list, { createdAt: startedAt, id }))
  return { status: 200, data: page.map(processView), nextCursor }
}

function processView({ isSilent, memoryBytes, startedAt, beatAt, ...same }: RunningProcess) {
  const state = isSilent ? ('silent' as const) : ('running' as const)
  return { ...same, state, memory_bytes: memoryBytes, started_at: startedAt, beat_at: beatAt }
}

const readQueues: HandlerOf<'readQueues'> = async ({ ctx }) => {
  const [queues, sweeps, stopped] = await Promise.all([
    measureQueues(ctx.db, new ByShard(ctx.tenantShards)),
    listSweeps(ctx.db),
    findStopped(ctx.db, logOrigin(ctx.config.publicUrl)),
  ])
  return {
    status: 200,
    data: {
      queues: queues.map(({ name, depth, oldestSeconds }) => ({ name, depth, oldest_seconds: oldestSeconds })),
      sweeps: sweeps.map(({ intervalMs, ranAt, failedAt, ...same }) => ({
        ...same,
        interval_seconds: intervalMs / 1_000,
        ran_at: ranAt,
        failed_at: failedAt,
      })),
      log_stopped: stopped ?? null,
    },
  }
}

const readVersions: HandlerOf<'readVersions'> = async ({ ctx }) => {
  const { pool } = ctx.db
  const [{ version, commit }, database, applied, functions] = await Promise.all([
    readRelease(),
    findDatabaseVersions(ctx.db),
    listApplied(pool),
    listFunctions(pool),
    assertNotHalfRestored(pool),
  ])
  const pending = await comparePendingWork(applied, functions)
  return {
    status: 200,
    data: {
      release: version,
      commit: commit ?? null,
      api: contractVersion,
      node: process.versions.node,
      ...database,
      schema: {
        newest: applied.at(-1)?.name ?? null,
        migrations: applied.length,
        pending: [...pending.applied, ...pending.functions],
      },
      functions: functions.map((one) => ({ name: one.name, version: one.version })).toSorted(byName),
    },
  }
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1
}

export const installationHandlers = {
  resealSecrets,
  listProcesses,
  readQueues,
  readVersions,
  ...storageHandlers,
  ...spaceCertificateHandlers,
} satisfies Partial<Handlers>
