import type { Context } from '../context.ts'
import { ApiError } from '#errors/api-error.ts'
import { openAccessList, type Listed } from './access-list.ts'

type Headers = Record<string, string | string[] | undefined>

/** Throws unless X-Id-Token and X-Spk prove an account on the sealed list; the list is opened only for one that is proved. */
export async function assertListed(
  ctx: Context,
  headers: Headers,
  { accessList, ...listed }: Listed & { accessList: Buffer | null },
): Promise<void> {
  await proveAccount(ctx, headers, (account) => openAccessList(ctx.vault, listed, accessList).get(account) ?? 'absent')
}

/** The account that X-Id-Token and X-Spk prove, whatever it is listed on; undefined where neither is sent. */
export async function findAccount(ctx: Context, headers: Headers): Promise<string | undefined> {
  if (!headers['x-id-token'] && !headers['x-spk']) return undefined
  let proved: string | undefined
  await proveAccount(ctx, headers, (account) => {
    proved = account
    return 'listed'
  })
  return proved
}

async function proveAccount(
  ctx: Context,
  headers: Headers,
  standing: (account: string) => 'listed' | 'revoked' | 'absent',
): Promise<void> {
  if (!ctx.identity)
    throw new ApiError('unavailable', { message: 'No identity provider is configured (OIDC_ISSUER).', retryAfterSeconds: 60 })
  const reason = await ctx.identity.refusalOf({ idToken: text(headers['x-id-token']), spk: text(headers['x-spk']) }, standing)
  if (reason !== undefined) throw new ApiError('not_authorized', { reason, message: `Not authorized: ${reason}.` })
}

function text(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}
