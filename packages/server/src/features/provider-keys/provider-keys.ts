import type { SealedRef } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import type { Db } from '#db/database.ts'
import { listProviderKeys, type ProviderKey } from './store.ts'

interface OpenedProviderKeys {
  /** By provider. */
  keys: Record<string, string | undefined>
  /** The address of the openai_compatible service, if the tenant has set one. */
  compatibleUrl: string | undefined
}

/** Returns a tenant's keys in the clear, to call a provider on its behalf. */
export async function openProviderKeys(db: Db, vault: Vault, tenantId: string): Promise<OpenedProviderKeys> {
  return openStoredKeys(vault, tenantId, await listProviderKeys(db, tenantId))
}

/** Opens keys that were read before. */
export function openStoredKeys(vault: Vault, tenantId: string, stored: ProviderKey[]): OpenedProviderKeys {
  const keys = Object.fromEntries(
    stored.map(({ provider, keySealed }) => [provider, vault.open(keySealed, sealedRef(tenantId, provider)).toString()]),
  )
  return { keys, compatibleUrl: stored.find(({ url }) => url !== null)?.url ?? undefined }
}

export function sealProviderKey(vault: Vault, tenantId: string, provider: string, key: string): Buffer {
  return vault.seal(Buffer.from(key), sealedRef(tenantId, provider))
}

function sealedRef(tenantId: string, provider: string): SealedRef {
  return { tenant: tenantId, table: 'provider_keys', column: 'key_sealed', row: provider }
}

/** The keys as the API returns them: hints and times, never the keys. */
export function providerKeysView(keys: ProviderKey[]) {
  const providers: Record<string, { hint: string; url?: string; set_at: string }> = {}
  for (const { provider, hint, url, setAt } of keys)
    providers[provider] = { hint, ...(url === null ? {} : { url }), set_at: setAt }
  return { providers }
}
