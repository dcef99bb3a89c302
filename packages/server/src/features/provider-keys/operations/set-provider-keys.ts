import type { Egress } from '#ports/egress/egress.ts'
import { invalid } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { providerKeyPlace } from '../open-provider-keys.ts'
import { providerKeysView } from '../provider-keys-view.ts'
import { deleteProviderKey, listProviderKeys, putProviderKey } from '../store.ts'

export const setProviderKeys: HandlerOf<'setProviderKeys'> = async ({ ctx, tx, tenantId, body }) => {
  for (const [provider, wanted] of Object.entries(body)) {
    if (wanted === null) await deleteProviderKey(tx, tenantId, provider)
    else {
      const { key, url } = typeof wanted === 'string' ? { key: wanted, url: null } : checked(ctx.egress, wanted)
      const keySealed = ctx.vault.seal(Buffer.from(key), providerKeyPlace(tenantId, provider))
      await putProviderKey(tx, tenantId, { provider, keySealed, hint: `…${key.slice(-4)}`, url })
    }
  }
  return { status: 200, data: providerKeysView(await listProviderKeys(tx, tenantId)) }
}

function checked(egress: Egress, { key, url }: { key: string; url: string }) {
  const check = egress.checkUrl(url)
  if (!check.ok) throw invalid('/openai_compatible/url', check.message)
  return { key, url: check.url.href.replace(/(?<!\/)\/+$/, '') }
}
