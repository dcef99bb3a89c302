/** A key as the gateway needs it on every request. */
export interface ResolvedKey {
  id: string
  kind: 'secret' | 'publishable'
  tenantId: string
  tenantStatus: 'active' | 'suspended'
  roles: readonly ('app' | 'issuer')[]
  /** Milliseconds since the epoch; undefined: no end. */
  endsAtMs: number | undefined
}

export type KeyRefusal = 'unauthorized' | 'tenant_suspended'

/** Why a key does not open anything now; undefined when it does. */
export function refusalOf(key: ResolvedKey | undefined, nowMs: number): KeyRefusal | undefined {
  if (!key || (key.endsAtMs !== undefined && key.endsAtMs <= nowMs)) return 'unauthorized'
  return key.tenantStatus === 'suspended' ? 'tenant_suspended' : undefined
}
