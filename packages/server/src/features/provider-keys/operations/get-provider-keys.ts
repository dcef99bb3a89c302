import type { HandlerOf } from '#features/handler.ts'
import { providerKeysView } from '../provider-keys-view.ts'
import { listProviderKeys } from '../store.ts'

export const getProviderKeys: HandlerOf<'getProviderKeys'> = async ({ ctx, tenantId }) => ({
  status: 200,
  data: providerKeysView(await listProviderKeys(ctx.db, tenantId)),
})
