import type { SharePageInput } from '@atrium/web/share/share-page'
import type { HeroInput } from '@atrium/web/share/hero'
import type { Context } from '../context.ts'
import type { Artifact } from '../artifacts/artifact.ts'

/** The input of a collection's share page; undefined: the collection does not exist. */
export async function findShareInput(ctx: Context, collectionId: string): Promise<SharePageInput | undefined> {
  const collection = await ctx.collections.findAnyTenant(collectionId)
  if (!collection) return undefined
  const { hero, card } = await ctx.publicPreviews.load(collection.tenantId, collection.id)
  const { publicUrl } = ctx.config
  const pageUrl = `${publicUrl}/v1/collections/${collection.id}/render`
  return {
    id: collection.id,
    metadata: collection.metadata,
    state: collection.state,
    hero: heroInputOf(hero),
    card: heroInputOf(card),
    publicUrl,
    pageUrl,
    oembedUrl: `${publicUrl}/v1/oembed?url=${encodeURIComponent(pageUrl)}`,
  }
}

function heroInputOf(artifact: Artifact | undefined): HeroInput | undefined {
  if (!artifact?.url) return undefined
  const { kind, url, title, alt, width, height, mime } = artifact
  return { kind, url, title, alt, width, height, mime }
}

/** The collection whose share page has this address; undefined: it is not a share page of this installation. */
export function collectionIdOfPage(address: string, publicUrl: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  if (url.origin !== new URL(publicUrl).origin) return undefined
  return /^\/v1\/collections\/([^/]+)\/render$/.exec(url.pathname)?.[1]
}
