export interface Key {
  id: string
  kind: 'secret' | 'publishable'
  name: string | null
  hint: string
  createdAt: string
  lastUsedAt: string | null
  expiresAt: string | null
  revokedAt: string | null
}

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
  }
}

export function isLiving(key: Key, nowMs: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || Date.parse(key.expiresAt) > nowMs)
}
