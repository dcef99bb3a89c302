import { sumSpentByDay } from '#features/credits/ledger/store.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { listUsage } from './store.ts'
import { reportSpan, usageReport } from './usage-report.ts'

export const getUsage: HandlerOf<'getUsage'> = async ({ ctx, tenantId, query }) => {
  const { from, to } = reportSpan(query, Date.now())
  // A caller who makes a request and then reads the report must find it there.
  await ctx.usageCounter.flush()
  const [counted, spent] = await Promise.all([listUsage(ctx.db, tenantId, from, to), sumSpentByDay(ctx.db, tenantId, from, to)])
  const credits = spent.map((row) => ({ day: row.day, meter: 'credits' as const, quantity: row.credits }))
  return { status: 200, data: usageReport([...counted, ...credits], query.by ?? 'day') }
}

export const usageHandlers = { getUsage } satisfies Partial<Handlers>
