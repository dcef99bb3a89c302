import type { Db } from '#db/database.ts'
import type { Place } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import { listProviderKeys } from './store.ts'

export interface OpenProviderKeys {
  /** By provider. */
  keys: Record<string, string | undefined>
  /** Where the openai_compatible service is, if there is one. */
  compatibleUrl: string | undefined
}

/** A tenant's keys, for whoever calls a provider on its behalf. */
export async function openProviderKeys(db: Db, vault: Vault, tenantId: string): Promise<OpenProviderKeys> {
  const stored = await listProviderKeys(db, tenantId)
  const keys = Object.fromEntries(
    stored.map(({ provider, keySealed }) => [provider, vault.open(keySealed, providerKeyPlace(tenantId, provider)).toString()]),
  )
  return { keys, compatibleUrl: stored.find(({ url }) => url !== null)?.url ?? undefined }
}

export function providerKeyPlace(tenantId: string, provider: string): Place {
  return { tenant: tenantId, table: 'provider_keys', column: 'key_sealed', row: provider }
}
