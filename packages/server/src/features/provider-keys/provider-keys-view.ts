import type { ProviderKey } from './store.ts'

/** Hints and times, never the keys. */
export function providerKeysView(keys: ProviderKey[]) {
  const entries = keys.map(({ provider, hint, url, setAt }) => [
    provider,
    { hint, ...(url === null ? {} : { url }), set_at: setAt },
  ])
  return { providers: Object.fromEntries(entries) as Record<string, { hint: string; url?: string; set_at: string }> }
}
