import { limits } from '@atrium/contract/limits'
import type { Context } from '#features/context.ts'
import type { HandlerOf } from '#features/handler.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { openAccessList } from '#features/items/access-list.ts'
import { findAccount } from '#features/items/assert-listed.ts'
import { artifactView, type Artifact } from '../artifact.ts'
import { listAccessLists, listArtifacts as listRows } from '../store.ts'

/** Lists of accounts that are in memory at once: each may name a thousand. */
const listsAtOnce = 20

export const listArtifacts: HandlerOf<'listArtifacts'> = async ({ ctx, tenantId, collection, query, headers, owner }) => {
  const limit = query.limit ?? limits.pageDefault
  const list = `artifacts:${collection.id}`
  const account = owner ? undefined : await findAccount(ctx, headers)
  const rows = await listRows(ctx.db, tenantId, collection.id, {
    afterSeq: readCursor(list, query.cursor),
    limit: limit + 1,
    of: owner ? 'owner' : account === undefined ? 'anyone' : 'account',
  })
  const { page, nextCursor } = cutPage(list, rows, limit)
  const shown = account === undefined ? page : await shownTo(ctx, tenantId, collection.id, page, account)
  return { status: 200, data: shown.map(artifactView), nextCursor }
}

/** Those of the page that the account may see. A page may so become shorter than its limit, even empty, with more to follow. */
async function shownTo(
  ctx: Context,
  tenantId: string,
  collectionId: string,
  page: Artifact[],
  account: string,
): Promise<Artifact[]> {
  const granted = new Set<string>()
  const ids = page.filter(({ access }) => access === 'email').map(({ id }) => id)
  for (let at = 0; at < ids.length; at += listsAtOnce) {
    const lists = await listAccessLists(ctx.db, tenantId, collectionId, ids.slice(at, at + listsAtOnce))
    for (const { id, accessList } of lists) {
      const standing = openAccessList(ctx.vault, { tenantId, table: 'artifacts', id }, accessList).get(account)
      if (standing === 'listed') granted.add(id)
    }
  }
  return page.filter(({ id, access }) => access === 'open' || granted.has(id))
}
