import type { RsaPublicKey } from '../blind-token.ts'

/** A key whose blind tokens can be redeemed. An epoch never changes. */
export interface Epoch {
  /** The thumbprint of the key. */
  id: string
  /** The tenant that pays for its tokens. */
  tenantId: string
  publicKey: RsaPublicKey
  /** The value of one token. */
  valueCredits: number
  createdAt: string
  /** undefined: its tokens never expire. */
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
