import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { listSuspendedTenants } from '#features/tenants/store.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { agentView, catalogView, ratingView } from '../agent.ts'
import { findAgent, findAgentOfAnyTenant, listAgentsOfAllTenants, listCatalogEntries, listAgents as listRows } from '../store.ts'

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

export const listAllAgents: HandlerOf<'listAllAgents'> = async ({ ctx, query }) => {
  const { limit = limits.pageDefault } = query
  const list = 'agents of all tenants'
  const rows = await listAgentsOfAllTenants(ctx.db, { afterSeq: readCursor(list, query.cursor), limit: limit + 1 })
  const { page, nextCursor } = cutPage(list, rows, limit)
  return { status: 200, data: page, nextCursor }
}

const list = 'catalog'

export const listCatalog: HandlerOf<'listCatalog'> = async ({ ctx, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const entries = await listCatalogEntries(ctx.db, { afterSeq: readCursor(list, query.cursor), limit: limit + 1 })
  const { page, nextCursor } = cutPage(list, entries, limit)
  const suspended = await listSuspendedTenants(ctx.db, [...new Set(page.map(({ tenantId }) => tenantId))])
  return { status: 200, data: page.filter(({ tenantId }) => !suspended.has(tenantId)).map(catalogView), nextCursor }
}

export const getAgentRatings: HandlerOf<'getAgentRatings'> = async ({ ctx, tenantId, params }) => {
  const agent = await findAgentOfAnyTenant(ctx.db, params.agentId)
  if (!agent || (agent.tenantId !== tenantId && agent.status !== 'active')) throw new ApiError('not_found')
  return { status: 200, data: ratingView(agent) }
}
