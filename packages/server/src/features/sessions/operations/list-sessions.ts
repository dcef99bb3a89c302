import type { HandlerOf } from '#features/handler.ts'
import { readTimeQuery } from '#http/time-page.ts'
import { listSessions as listRows } from '../list-store.ts'
import { statusView } from '../session.ts'

export const listSessions: HandlerOf<'listSessions'> = async ({ ctx, tenantId, query }) => {
  const { range, limit, cursorAfter } = readTimeQuery(`sessions:${tenantId}`, query)
  const { status, agent_id: agentId } = query
  const { sessions, last } = await listRows(ctx.db, tenantId, { status, agentId, range, limit })
  return { status: 200, data: sessions.map(statusView), nextCursor: cursorAfter(last) }
}
