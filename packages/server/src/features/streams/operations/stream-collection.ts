import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { listSuspendedTenants } from '#features/tenants/store.ts'
import { openStream } from '../open-stream.ts'

export const streamCollection: HandlerOf<'streamCollection'> = async (call) => {
  const { tenantId, keyHash, collection, owner } = call
  const guard = { tenantId, keyHash, collectionId: collection.id }
  const isBox = collection.boxRecipient !== null
  const target = { kind: owner ? 'owner' : 'open', tenantId, collectionId: collection.id, isBox } as const
  return openStream(call, target, owner ? { ...guard, adminTokenHash: collection.adminTokenHash } : guard)
}

export const streamWall: HandlerOf<'streamWall'> = async (call) => {
  const { ctx, params } = call
  const collection = await ctx.collections.findAnyTenant(params.id)
  if (!collection?.wall) throw new ApiError('not_found')
  const { tenantId, id: collectionId } = collection
  // Without a key nobody has looked whether the tenant is suspended.
  if ((await listSuspendedTenants(ctx.db, [tenantId])).has(tenantId)) throw new ApiError('not_found')
  return openStream(call, { kind: 'wall', tenantId, collectionId }, { tenantId, collectionId, isWall: true })
}
