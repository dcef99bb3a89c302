import type { RsaPublicKey } from '../blind-token.ts'

/** A key whose tokens can be redeemed. Nothing of it ever changes. */
export interface Epoch {
  /** The thumbprint of the key. */
  id: string
  /** Who pays for its tokens. */
  tenantId: string
  publicKey: RsaPublicKey
  /** What one token is worth. */
  valueCredits: number
  createdAt: string
  /** undefined: it redeems for ever. */
  expiresAt: string | undefined
}

export function epochView(epoch: Epoch) {
  return {
    epoch: epoch.id,
    issuer: epoch.tenantId,
    public_key: epoch.publicKey,
    value: epoch.valueCredits,
    created_at: epoch.createdAt,
    expires_at: epoch.expiresAt ?? null,
  }
}
