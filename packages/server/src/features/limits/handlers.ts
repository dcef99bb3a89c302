import { assertNotDeleted } from '#features/tenants/deletion.ts'
import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { cutPageBy, makeNumberCursor, readNumberCursor } from '#http/cursor.ts'
import { notifyKeyChange } from '#features/keys/store.ts'
import { findTenant, findTenantForUpdate, listTenantNames } from '#features/tenants/store.ts'
import { readLimitsView } from './limits.ts'
import { listStoredBytes, saveOverrides } from './store.ts'

const getTenantLimits: HandlerOf<'getTenantLimits'> = async ({ ctx, params }) => {
  const tenant = await findTenant(ctx.db, params.tenant_id)
  if (!tenant) throw new ApiError('not_found')
  return { status: 200, data: await readLimitsView(ctx, ctx.db, tenant.id) }
}

const setTenantLimits: HandlerOf<'setTenantLimits'> = async ({ ctx, tx, params, body }) => {
  const tenant = await findTenantForUpdate(tx, params.tenant_id)
  if (!tenant) throw new ApiError('not_found')
  await assertNotDeleted(tx, tenant.id)
  await saveOverrides(tx, tenant.id, body)
  // Processes keep the share of the rate with the keys.
  notifyKeyChange(tx, tenant.id)
  return { status: 200, data: await readLimitsView(ctx, tx, tenant.id) }
}

const list = 'stored bytes'

const listStorage: HandlerOf<'listStorage'> = async ({ ctx, query }) => {
  const { limit = limits.pageDefault } = query
  const rows = await listStoredBytes(ctx.db, readNumberCursor(list, query.cursor), limit + 1)
  const { page, nextCursor } = cutPageBy(rows, limit, ({ bytes, tenantId }) =>
    makeNumberCursor(list, { value: bytes, id: tenantId }),
  )
  const names = await listTenantNames(
    ctx.db,
    page.map(({ tenantId }) => tenantId),
  )
  const data = page.map(({ tenantId, bytes }) => ({ tenant_id: tenantId, name: names.get(tenantId) ?? '', stored_bytes: bytes }))
  return { status: 200, data, nextCursor }
}

export const limitHandlers = { getTenantLimits, setTenantLimits, listStorage } satisfies Partial<Handlers>
