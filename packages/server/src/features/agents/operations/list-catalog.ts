import { limits } from '@atrium/contract/limits'
import type { HandlerOf } from '#features/handler.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { listSuspendedTenants } from '#features/tenants/store.ts'
import { catalogView } from '../agent.ts'
import { listCatalogEntries } from '../store.ts'

const list = 'catalog'

export const listCatalog: HandlerOf<'listCatalog'> = async ({ ctx, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const entries = await listCatalogEntries(ctx.db, { afterSeq: readCursor(list, query.cursor), limit: limit + 1 })
  const { page, nextCursor } = cutPage(list, entries, limit)
  const suspended = await listSuspendedTenants(ctx.db, [...new Set(page.map(({ tenantId }) => tenantId))])
  return { status: 200, data: page.filter(({ tenantId }) => !suspended.has(tenantId)).map(catalogView), nextCursor }
}
