import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { agentView } from '../agent.ts'
import { findAgent, listAgents as listRows } from '../store.ts'

export const getAgent: HandlerOf<'getAgent'> = async ({ ctx, tenantId, params }) => {
  const agent = await findAgent(ctx.db, tenantId, params.agentId)
  if (!agent) throw new ApiError('not_found')
  return { status: 200, data: agentView(agent) }
}

export const listAgents: HandlerOf<'listAgents'> = async ({ ctx, tenantId, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const list = `agents:${tenantId}`
  const rows = await listRows(ctx.db, tenantId, { afterSeq: readCursor(list, query.cursor), limit: limit + 1 })
  const { page, nextCursor } = cutPage(list, rows, limit)
  return { status: 200, data: page.map(agentView), nextCursor }
}
