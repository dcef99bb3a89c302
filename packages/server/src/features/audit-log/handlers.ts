import { cutPageBy } from '#http/cursor.ts'
import { readTimeQuery } from '#http/time-page.ts'
import type { HandlerOf, Handlers } from '../handler.ts'
import { operatorView, tenantView } from './audit-entry.ts'
import { listAuditEntries } from './audit-log-store.ts'

const listOperatorAuditLog: HandlerOf<'listOperatorAuditLog'> = async ({ ctx, query }) => {
  const { range, limit, cursorAfter } = readTimeQuery('operator audit log', query)
  const rows = await listAuditEntries(ctx.db, query.tenant_id, range, limit + 1)
  const { page, nextCursor } = cutPageBy(rows, limit, cursorAfter)
  return { status: 200, data: page.map(operatorView), nextCursor }
}

const listAuditLog: HandlerOf<'listAuditLog'> = async ({ ctx, tenantId, query }) => {
  const { range, limit, cursorAfter } = readTimeQuery(`audit log:${tenantId}`, query)
  const rows = await listAuditEntries(ctx.db, tenantId, range, limit + 1)
  const { page, nextCursor } = cutPageBy(rows, limit, cursorAfter)
  return { status: 200, data: page.map(tenantView), nextCursor }
}

export const auditLogHandlers = { listOperatorAuditLog, listAuditLog } satisfies Partial<Handlers>
