import { englishText } from '@atrium/web/page-text/page-text'
import { readWallItem } from '@atrium/web/wall/wall-item'
import type { WallPicture } from '@atrium/web/wall/item-element'
import { readLayout, type WallLayout } from '@atrium/web/wall/layout'
import type { WallInput } from '@atrium/web/wall/render-wall'
import { isPublic, isStored } from '#features/artifacts/artifact.ts'
import { listChosenArtifacts } from '#features/artifacts/store.ts'
import type { Collection } from '#features/collections/collection.ts'
import type { Context } from '#features/context.ts'
import { openItemView } from '#features/items/item.ts'
import { listOpenItems, type OpenItem } from '#features/items/open-items-store.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { heroInputOf } from './share-page.ts'

const itemsOnPage = 60
/** An item may have 64 KiB; a wall shows only the beginning. */
const maxPageBytes = 1024 * 1024

/**
 * The collection whose wall is requested; undefined: it does not exist, its wall is switched off, or its tenant is
 * suspended.
 */
export async function findWall(ctx: Context, collectionId: string): Promise<Collection | undefined> {
  const collection = await ctx.collections.findAnyTenant(collectionId)
  if (!collection?.wall || collection.boxRecipient) return undefined
  return (await ctx.suspensions.isSuspended(collection.tenantId)) ? undefined : collection
}

interface WallQuery {
  layout?: WallLayout | undefined
  cursor?: string | undefined
}

/** The data of a page of the wall. Throws invalid_cursor. */
export async function loadWallInput(ctx: Context, collection: Collection, query: WallQuery): Promise<WallInput> {
  const { id, tenantId, metadata, state } = collection
  const { publicUrl } = ctx.config
  const list = `wall:${id}`
  const after = query.cursor === undefined ? Number.MAX_SAFE_INTEGER : readCursor(list, query.cursor)
  // Taken before the items are read: events in between are sent again, and none is missed.
  const streamCursor = await ctx.streams.cursorOfNow({ kind: 'wall', tenantId, collectionId: id })
  const [{ items: rows, end = itemsOnPage }, { hero, card }] = await Promise.all([
    listOpenItems(ctx.db, tenantId, id, { order: 'newest', after, limit: itemsOnPage, maxBytes: maxPageBytes }),
    ctx.publicPreviews.load(tenantId, id),
  ])
  const { page, nextCursor } = cutPage(list, rows, end)
  const pageUrl = wallAddress(publicUrl, id)
  return {
    id,
    metadata,
    state,
    layout: query.layout ?? readLayout(metadata['wall_layout']),
    layoutAsked: query.layout !== undefined,
    items: page.map(openItemView),
    pictures: await loadPictures(ctx, collection, page),
    preview: heroInputOf(card ?? hero),
    cursor: query.cursor,
    nextCursor,
    streamCursor,
    publicUrl,
    pageUrl,
    oembedUrl: `${publicUrl}/v1/oembed?url=${encodeURIComponent(pageUrl)}`,
  }
}

export function wallAddress(publicUrl: string, collectionId: string): string {
  return `${publicUrl}/v1/collections/${collectionId}/wall`
}

/**
 * The pictures that the items name, if anyone may see them and this installation serves them. A page loads nothing
 * from other origins, and an item shows nothing of another collection.
 */
async function loadPictures(
  { db }: Context,
  { tenantId, id: collectionId }: Collection,
  items: OpenItem[],
): Promise<Map<string, WallPicture>> {
  const ids = items.flatMap((item) => readWallItem(openItemView(item), englishText.wall)?.artifactId ?? [])
  if (ids.length === 0) return new Map()
  const found = await listChosenArtifacts(db, tenantId, collectionId, { ids: [...new Set(ids)], hero: false })
  const shown = found.filter((one) => isPublic(one) && isStored(one) && one.kind !== 'clip')
  return new Map(
    shown.map(({ id: artifactId, alt, title, width, height }) => [
      artifactId,
      { artifactId, alt: alt ?? title ?? undefined, size: width && height ? { width, height } : undefined },
    ]),
  )
}
