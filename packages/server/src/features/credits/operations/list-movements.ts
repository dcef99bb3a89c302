import type { HandlerOf } from '#features/handler.ts'
import { readTimeQuery } from '#http/time-page.ts'
import { listMovements as listRows } from '../ledger/movements-store.ts'

export const listMovements: HandlerOf<'listMovements'> = async ({ ctx, tenantId, query }) => {
  const { range, limit, cursorAfter } = readTimeQuery(`movements:${tenantId}`, query)
  const { movements, last } = await listRows(ctx.db, tenantId, { kind: query.kind, range, limit })
  return {
    status: 200,
    data: movements.map((one) => ({
      id: one.id,
      kind: one.kind,
      from: one.fromKind,
      to: one.toKind,
      amount: one.amountCredits,
      memo: one.memo,
      created_at: one.createdAt,
    })),
    nextCursor: cursorAfter(last),
  }
}
