export type Role = 'app' | 'issuer'

export interface Key {
  id: string
  kind: 'secret' | 'publishable'
  name: string | null
  hint: string
  createdAt: string
  lastUsedAt: string | null
  expiresAt: string | null
  revokedAt: string | null
  /** The id of the key that the first rotation made in place of this one, or a later one if that key is not valid. */
  replacedBy: string | null
  /** Whether it was neither revoked nor expired when it was read. */
  isActive: boolean
}

/** A key with what the gateway needs on every request. */
export interface ResolvedKey {
  id: string
  kind: Key['kind']
  tenantId: string
  tenantStatus: 'active' | 'suspended'
  roles: readonly Role[]
  /** By the clock of this process, in milliseconds since the epoch; undefined: the key does not end. */
  endsAtMs: number | undefined
  /** The share of the installation's rate limits that the tenant has; 100: all of it. */
  ratePercent: number
  /** Whether the request log has the requests of the tenant. */
  logsRequests: boolean
}

export type KeyRefusal = 'unauthorized' | 'tenant_suspended'

/** The roles of a tenant, given those recorded: a tenant without recorded roles has both. */
export function rolesHeld(recorded: Role[] | null): Role[] {
  return recorded && recorded.length > 0 ? recorded : ['app', 'issuer']
}

/** Why a key is refused now; undefined: it is accepted. */
export function refusalOf(key: ResolvedKey | undefined, nowMs: number): KeyRefusal | undefined {
  if (!key || (key.endsAtMs !== undefined && key.endsAtMs <= nowMs)) return 'unauthorized'
  return key.tenantStatus === 'suspended' ? 'tenant_suspended' : undefined
}

/** The end of a key that does not end, in the order of the list. It is also in the index api_keys_by_end. */
export const neverEnds = '9999-12-31T23:59:59.999Z'

/** When the key ends or has ended. Times of one format are ordered as their text is. */
export function endOf({ expiresAt, revokedAt }: Key): string {
  const end = expiresAt ?? neverEnds
  return revokedAt !== null && revokedAt < end ? revokedAt : end
}

/** Orders keys by their creation, the oldest first. */
export function byAge(a: Key, b: Key): number {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id) ? -1 : 1
}

/** The key as the API returns it. Only the answer that creates a key has its text. */
export function keyView(key: Key) {
  return {
    id: key.id,
    kind: key.kind,
    name: key.name,
    hint: key.hint,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    replaced_by: key.replacedBy,
  }
}
