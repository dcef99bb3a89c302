import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { listSuspendedTenants } from '#features/tenants/store.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { catalogView, ratingView } from '../agent.ts'
import { findAgentOfAnyTenant, listCatalogEntries } from '../store.ts'

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
