import { limits } from '@atrium/contract/limits'
import type { HandlerOf } from '#features/handler.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { epochView } from '../epoch.ts'
import { listEpochs as listRows } from '../store.ts'

const list = 'epochs'

export const listEpochs: HandlerOf<'listEpochs'> = async ({ ctx, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const rows = await listRows(ctx.db, readCursor(list, query.cursor), limit + 1)
  const { page, nextCursor } = cutPage(list, rows, limit)
  return { status: 200, data: page.map(epochView), nextCursor }
}
