/** An account of the books: its home tenant, which is also where its rows live, and its id. */
export interface AccountRef {
  tenantId: string
  id: string
}

/**
 * platform: credits in circulation; the one account that grows by what leaves it, since credits come from there and go back there.
 * issuer: a tenant's prefunded balance. revenue: what its agents and services earned. wallet, coupon, license: spent by whoever holds the
 * code. held: what is set aside out of one of them for what runs.
 */
export type AccountKind = 'platform' | 'issuer' | 'revenue' | 'wallet' | 'coupon' | 'license' | 'held'

/** Where credits come from when they are paid for, and where they go when the platform itself is paid. */
export const platformAccount: AccountRef = { tenantId: 'platform', id: 'platform' }

/** A tenant's prefunded balance: pays for what it grants, for its tokens, and for its own fees. */
export function issuerAccount(tenantId: string): AccountRef {
  return { tenantId, id: 'issuer' }
}

/** What a tenant earned. */
export function revenueAccount(tenantId: string): AccountRef {
  return { tenantId, id: 'revenue' }
}

/** What is set aside out of an account. */
export function heldAccount({ tenantId, id }: AccountRef): AccountRef {
  return { tenantId, id: `${id}.held` }
}

/** The kind of an account that exists without having been opened by name; undefined: it must have been opened. */
export function standingKind({ id }: AccountRef): AccountKind | undefined {
  if (id === 'platform' || id === 'issuer' || id === 'revenue') return id
  return id.endsWith('.held') ? 'held' : undefined
}

/** One text for one account, to look it up by. */
export function accountKey({ tenantId, id }: AccountRef): string {
  return `${tenantId}/${id}`
}
