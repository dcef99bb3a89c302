/** An account of the books: its home tenant, with which its rows are stored, and its id. */
export interface AccountRef {
  tenantId: string
  id: string
}

/**
 * platform: credits in circulation; the only account that grows by debits, because credits originate there and return
 * there. issuer: a tenant's prefunded balance. revenue: what its agents and services earned. wallet, coupon, license:
 * the holder of the code spends them. held: what open holds set aside out of another account.
 */
export type AccountKind = 'platform' | 'issuer' | 'revenue' | 'wallet' | 'coupon' | 'license' | 'held'

/** The source of credits that a buyer pays for, and the recipient of the platform's own fees. */
export const platformAccount: AccountRef = { tenantId: 'platform', id: 'platform' }

/** A tenant's prefunded balance: pays for its grants, its tokens and its fees. */
export function issuerAccount(tenantId: string): AccountRef {
  return { tenantId, id: 'issuer' }
}

/** A tenant's earnings. */
export function revenueAccount(tenantId: string): AccountRef {
  return { tenantId, id: 'revenue' }
}

/** The account of what holds set aside out of another account. */
export function heldAccount({ tenantId, id }: AccountRef): AccountRef {
  return { tenantId, id: `${id}.held` }
}

/** The kind of an account that needs no opening; undefined: a transfer must have opened the account. */
export function implicitKind({ id }: AccountRef): AccountKind | undefined {
  if (id === 'platform' || id === 'issuer' || id === 'revenue') return id
  return id.endsWith('.held') ? 'held' : undefined
}

/** An account as the key of a map. */
export function accountKey({ tenantId, id }: AccountRef): string {
  return `${tenantId}/${id}`
}
