import { limits } from '@atrium/contract/limits'
import { newId } from '#crypto/random.ts'
import type { Database } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { cutTimePage, readTimeCursor } from '#http/cursor.ts'
import {
  type AskedAudit,
  beginAudit,
  failAudit,
  findAudit,
  findOpenAudit,
  insertAudit,
  listAudits as rowsOf,
  saveAuditProgress,
  saveAuditReport,
} from './asked-audit-store.ts'
import { auditLedgerByRule, auditRuleCount } from './audit-store.ts'
import { lastProof } from './audit.ts'

const startAudit: HandlerOf<'startAudit'> = async ({ tx }) => {
  const audit = (await insertAudit(tx, newId('ledgerAudit'))) ?? (await findOpenAudit(tx))
  // The one that was open has ended between the two statements.
  if (!audit) throw new ApiError('unavailable', { retryAfterSeconds: 1 })
  return { status: 202, data: auditView(audit) }
}

const list = 'ledger audits'

const listAudits: HandlerOf<'listAudits'> = async ({ ctx, query }) => {
  const { limit = limits.pageDefault } = query
  const rows = await rowsOf(ctx.db, readTimeCursor(list, query.cursor), limit + 1)
  const { page, nextCursor } = cutTimePage(list, rows, limit)
  return { status: 200, data: page.map(auditView), nextCursor }
}

const readAudit: HandlerOf<'readAudit'> = async ({ ctx, params }) => {
  const found = await findAudit(ctx.db, params.auditId)
  if (!found) throw new ApiError('not_found')
  return { status: 200, data: { ...auditView(found.audit), findings: found.findings } }
}

const readLedgerProof: HandlerOf<'readLedgerProof'> = async ({ ctx }) => {
  const proof = await lastProof(ctx.db)
  const shown = proof && {
    findings: proof.findings,
    credits: proof.credits,
    proved_at: proof.provedAt,
    full_at: proof.fullAt,
  }
  return { status: 200, data: { proof: shown ?? null } }
}

function auditView({ rulesChecked, findingCount, createdAt, startedAt, finishedAt, ...same }: AskedAudit) {
  return {
    ...same,
    rules_checked: rulesChecked,
    rules: auditRuleCount,
    finding_count: findingCount,
    created_at: createdAt,
    started_at: startedAt,
    finished_at: finishedAt,
  }
}

/**
 * Runs the audit that is queued. One that is marked as running was begun by a process that died: only the holder of
 * the sweep's lease calls this. `books` is a connection for the audit alone, and `db` records its progress.
 */
export async function runAskedAudit(db: Database, books: Database): Promise<void> {
  const asked = await findOpenAudit(db)
  if (!asked) return
  await beginAudit(db, asked.id)
  try {
    const report = await auditLedgerByRule(books, (checked) => saveAuditProgress(db, asked.id, checked))
    await saveAuditReport(db, asked.id, report)
  } catch (error) {
    await failAudit(db, asked.id)
    throw error
  }
}

export const askedAuditHandlers = { startAudit, listAudits, readAudit, readLedgerProof } satisfies Partial<Handlers>
