import { ApiError } from '../../../http/api-error.ts'
import type { HandlerOf } from '../../../http/call.ts'
import { openAccessList } from '../access-list.ts'
import { itemView } from '../item.ts'
import { findItem } from '../store.ts'

export const getItem: HandlerOf<'getItem'> = async (ctx, { tenant, params, headers, owner }) => {
  const item = await findItem(ctx.db, tenant, params.id, params.itemId)
  if (!item || (item.access === 'owner' && !owner)) throw new ApiError('not_found')
  if (item.access === 'email' && !owner) {
    if (!ctx.identity)
      throw new ApiError('unavailable', { message: 'No identity provider is configured (OIDC_ISSUER).', retryAfterSeconds: 60 })
    const reason = await ctx.identity.refusalOf(
      { idToken: text(headers['x-id-token']), spk: text(headers['x-spk']) },
      (account) => openAccessList(ctx.vault, tenant, item.id, item.accessList).get(account) ?? 'absent',
    )
    if (reason !== undefined) throw new ApiError('not_authorized', { reason, message: `Not authorized: ${reason}.` })
  }
  return { status: 200, data: itemView(item) }
}

function text(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}
