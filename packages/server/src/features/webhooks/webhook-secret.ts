import { randomBytes } from '#crypto/random.ts'
import type { SealedRef } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'

/** A sealed secret and the row that the seal is bound to. */
export interface SealedSecret {
  id: string
  sealed: Buffer
}

/** 32 random bytes in the form of Standard Webhooks. */
export function newSecret(): string {
  return `whsec_${Buffer.from(randomBytes(32)).toString('base64')}`
}

export function sealSecret(vault: Vault, tenantId: string, id: string, secret: string): Buffer {
  return vault.seal(Buffer.from(secret), sealedRef(tenantId, id))
}

export function openSecret(vault: Vault, tenantId: string, { id, sealed }: SealedSecret): string {
  return vault.open(sealed, sealedRef(tenantId, id)).toString()
}

function sealedRef(tenant: string, row: string): SealedRef {
  return { tenant, table: 'webhook_secrets', column: 'sealed', row }
}
