import { limits } from '@atrium/contract/limits'
import type { HandlerOf } from '#features/handler.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { agentView } from '../agent.ts'
import { listAgents as listRows } from '../store.ts'

export const listAgents: HandlerOf<'listAgents'> = async ({ ctx, tenantId, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const list = `agents:${tenantId}`
  const rows = await listRows(ctx.db, tenantId, { afterSeq: readCursor(list, query.cursor), limit: limit + 1 })
  const { page, nextCursor } = cutPage(list, rows, limit)
  return { status: 200, data: page.map(agentView), nextCursor }
}
