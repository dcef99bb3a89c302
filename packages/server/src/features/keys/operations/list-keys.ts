import type { HandlerOf } from '#features/handler.ts'
import { keyView } from '../key.ts'
import { listKeys as listRows } from '../store.ts'

export const listKeys: HandlerOf<'listKeys'> = async ({ ctx, tenantId }) => ({
  status: 200,
  data: (await listRows(ctx.db, tenantId)).map(keyView),
})
