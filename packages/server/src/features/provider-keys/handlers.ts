import { minProviderKeyLength } from '@atrium/contract/provider-keys'
import { invalid } from '#errors/api-error.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { assertHeaderText } from '#http/header-text.ts'
import type { Egress } from '#ports/egress/egress.ts'
import { providerKeysView, sealProviderKey } from './provider-keys.ts'
import { deleteProviderKey, listProviderKeys, upsertProviderKey } from './store.ts'

const getProviderKeys: HandlerOf<'getProviderKeys'> = async ({ ctx, tenantId }) => ({
  status: 200,
  data: providerKeysView(await listProviderKeys(ctx.db, tenantId)),
})

const setProviderKeys: HandlerOf<'setProviderKeys'> = async ({ ctx, tx, tenantId, body }) => {
  for (const [provider, wanted] of Object.entries(body)) {
    if (wanted === null) await deleteProviderKey(tx, tenantId, provider)
    else {
      const { key, url } = typeof wanted === 'string' ? { key: wanted, url: null } : checkAddress(ctx.egress, wanted)
      // A line break around a pasted key cannot be sent.
      const trimmed = key.trim()
      const path = typeof wanted === 'string' ? `/${provider}` : `/${provider}/key`
      assertHeaderText(trimmed, path)
      if (trimmed.length < minProviderKeyLength) throw invalid(path, `has fewer than ${minProviderKeyLength} characters`)
      const keySealed = sealProviderKey(ctx.vault, tenantId, provider, trimmed)
      await upsertProviderKey(tx, tenantId, { provider, keySealed, hint: `…${trimmed.slice(-4)}`, url })
    }
  }
  return { status: 200, data: providerKeysView(await listProviderKeys(tx, tenantId)) }
}

function checkAddress(egress: Egress, { key, url }: { key: string; url: string }) {
  const check = egress.checkUrl(url)
  if (!check.ok) throw invalid('/openai_compatible/url', check.message)
  // The client of the provider appends the path of each request to this text.
  if (/[?#]/.test(check.url.href))
    throw invalid('/openai_compatible/url', 'The URL has a query or a fragment. Send only what is before it: paths are appended.')
  return { key, url: check.url.href.replace(/(?<!\/)\/+$/, '') }
}

export const providerKeyHandlers = { setProviderKeys, getProviderKeys } satisfies Partial<Handlers>
