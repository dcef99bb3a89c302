import { parseEmail } from '@atrium/identity/email'
import { limits } from '@atrium/contract/limits'
import type { SealedRef } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import { ApiError, invalid, notConfigured } from '#errors/api-error.ts'
import type { Context } from '../context.ts'

type ListStatus = 'listed' | 'revoked'

/** Who may read an item or an artifact: normalised e-mail addresses, each listed, or revoked since. */
export type AccessList = Map<string, ListStatus>

/** The row that an access list is sealed for. */
export interface Listed {
  tenantId: string
  table: 'items' | 'artifacts'
  id: string
}

type Headers = Record<string, string | string[] | undefined>

function sealedRef({ tenantId: tenant, table, id: row }: Listed): SealedRef {
  return { tenant, table, column: 'access_list', row }
}

export function openAccessList(vault: Vault, listed: Listed, sealed: Buffer | null): AccessList {
  if (!sealed) return new Map()
  const entries: [string, ListStatus][] = JSON.parse(vault.open(sealed, sealedRef(listed)).toString())
  return new Map(entries)
}

/**
 * Returns the sealed list after grants and revocations. Without any, returns the same buffer, so that no change is
 * recorded.
 */
export function changedAccessList(
  vault: Vault,
  listed: Listed,
  sealed: Buffer | null,
  { grant = [], revoke = [] }: { grant?: string[] | undefined; revoke?: string[] | undefined },
): Buffer | null {
  if (grant.length === 0 && revoke.length === 0) return sealed
  const changed = changeAccessList(openAccessList(vault, listed, sealed), grant, revoke)
  return vault.seal(Buffer.from(JSON.stringify([...changed])), sealedRef(listed))
}

/** An account in both lists is revoked. */
function changeAccessList(list: AccessList, grant: string[], revoke: string[]): AccessList {
  const changed = new Map(list)
  grant.forEach((email, i) => changed.set(normalise(email, `/grant/${i}`), 'listed'))
  revoke.forEach((email, i) => {
    const account = normalise(email, `/revoke/${i}`)
    // An account that was never listed stays absent: only an account that once had access may learn that it was
    // revoked.
    if (changed.has(account)) changed.set(account, 'revoked')
  })
  if (changed.size > limits.accessListEntries) throw invalid('/grant', `at most ${limits.accessListEntries} accounts`)
  return changed
}

function normalise(email: string, path: string): string {
  const account = parseEmail(email)
  if (account === undefined) throw invalid(path, 'must be an e-mail address')
  return account
}

/** Throws unless X-Id-Token and X-Spk prove an account on the list. The list is opened only after the proof. */
export async function assertListed(
  ctx: Context,
  headers: Headers,
  { accessList, ...listed }: Listed & { accessList: Buffer | null },
): Promise<void> {
  await proveAccount(ctx, headers, (account) => openAccessList(ctx.vault, listed, accessList).get(account) ?? 'absent')
}

/** Returns the account that X-Id-Token and X-Spk prove, on whatever list; undefined: neither header was sent. */
export async function findAccount(ctx: Context, headers: Headers): Promise<string | undefined> {
  if (!headers['x-id-token'] && !headers['x-spk']) return undefined
  let proven: string | undefined
  await proveAccount(ctx, headers, (account) => {
    proven = account
    return 'listed'
  })
  return proven
}

async function proveAccount(
  ctx: Context,
  headers: Headers,
  findStatus: (account: string) => ListStatus | 'absent',
): Promise<void> {
  if (!ctx.identity) throw notConfigured('No identity provider is configured (OIDC_ISSUER).')
  const credentials = { idToken: text(headers['x-id-token']), spk: text(headers['x-spk']) }
  const reason = await ctx.identity.refusalOf(credentials, findStatus)
  if (reason !== undefined) throw new ApiError('not_authorized', { reason, message: `Not authorized: ${reason}.` })
}

function text(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}
