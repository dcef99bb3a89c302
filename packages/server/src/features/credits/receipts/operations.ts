import { hashCredential } from '#crypto/random.ts'
import type { Context } from '#features/context.ts'
import type { HandlerOf } from '#features/handler.ts'
import { cutPageBy } from '#http/cursor.ts'
import { readTimeQuery } from '#http/time-page.ts'
import { findPayer } from '../ledger/store.ts'
import { type Receipt, receiptView } from './receipt.ts'
import { listReceipts as listRows, listReceiptsOfPayer } from './store.ts'

export const listReceipts: HandlerOf<'listReceipts'> = async ({ ctx, tenantId, query }) => {
  const { range, limit, cursorAfter } = readTimeQuery(`receipts:${tenantId}`, query)
  return pageOf(ctx, await listRows(ctx.db, tenantId, range, limit + 1), { limit, cursorAfter })
}

/** A code that never existed and one that has paid for nothing have the same answer. */
export const lookUpReceipts: HandlerOf<'lookUpReceipts'> = async ({ ctx, body }) => {
  const { wallet_code: code, ...query } = body
  const list = `receipts-of:${hashCredential(code).toString('base64url')}`
  const { range, limit, cursorAfter } = readTimeQuery(list, query)
  const payer = await findPayer(ctx.db, code)
  const receipts = payer ? await listReceiptsOfPayer(ctx.db, payer.account, range, limit + 1) : []
  return pageOf(ctx, receipts, { limit, cursorAfter })
}

type Paging = Pick<ReturnType<typeof readTimeQuery>, 'limit' | 'cursorAfter'>

async function pageOf(ctx: Context, receipts: Receipt[], { limit, cursorAfter }: Paging) {
  const { page, nextCursor } = cutPageBy(receipts, limit, cursorAfter)
  return { status: 200 as const, data: await Promise.all(page.map((receipt) => receiptView(ctx, receipt))), nextCursor }
}
