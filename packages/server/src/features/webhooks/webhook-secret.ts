import { randomBytes } from '#crypto/random.ts'
import type { Place } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'

/** A sealed secret and the row that it is bound to. */
export interface SealedSecret {
  id: string
  sealed: Buffer
}

/** In the form of Standard Webhooks: 32 random bytes. */
export function newSecret(): string {
  return `whsec_${Buffer.from(randomBytes(32)).toString('base64')}`
}

export function sealSecret(vault: Vault, tenantId: string, id: string, secret: string): Buffer {
  return vault.seal(Buffer.from(secret), placeOf(tenantId, id))
}

export function openSecret(vault: Vault, tenantId: string, { id, sealed }: SealedSecret): string {
  return vault.open(sealed, placeOf(tenantId, id)).toString()
}

function placeOf(tenant: string, row: string): Place {
  return { tenant, table: 'webhook_secrets', column: 'sealed', row }
}
