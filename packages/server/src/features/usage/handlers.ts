import { type Meter, meters } from '@atrium/contract/usage'
import { ApiError, invalid } from '#errors/api-error.ts'
import { dayMs } from './usage-counter.ts'
import { sumSpentByDay } from '../credits/ledger/movements-store.ts'
import type { HandlerOf, Handlers } from '../handler.ts'
import { findTenant } from '../tenants/store.ts'
import type { Context } from '../context.ts'
import { listUsage } from './store.ts'

const maxDaysApart = 366
const defaultDays = 30
/** Nothing was counted earlier. PostgreSQL has no year 0, which the date format of the contract allows. */
const firstDay = '2000-01-01'

interface DayRange {
  from: string
  to: string
}

/** The days of a report, both included. */
export function reportRange(requested: { from?: string; to?: string }, nowMs: number): DayRange {
  const to = requested.to ?? dayOf(nowMs)
  const from = requested.from ?? dayOf(Date.parse(to) - (defaultDays - 1) * dayMs)
  for (const name of ['from', 'to'] as const) {
    if ((requested[name] ?? firstDay) < firstDay) throw invalid(`/${name}`, `must be ${firstDay} or later`)
  }
  const daysApart = (Date.parse(to) - Date.parse(from)) / dayMs
  if (daysApart < 0) throw invalid('/from', `must not be after ${to}`)
  if (daysApart > maxDaysApart) throw invalid('/from', `must be at most ${maxDaysApart} days before ${to}`)
  return { from, to }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

interface DayQuantity {
  day: string
  meter: Meter
  quantity: number
}

interface PeriodQuantity {
  period: string
  meter: Meter
  quantity: number
}

/** Sums by period and meter, oldest period first, meters in their fixed order. Zero sums are left out. */
export function usageReport(quantities: DayQuantity[], by: 'day' | 'month'): PeriodQuantity[] {
  const periods = new Map<string, Map<Meter, number>>()
  for (const { day, meter, quantity } of quantities) {
    const period = by === 'month' ? day.slice(0, 7) : day
    const sums = periods.get(period) ?? new Map<Meter, number>()
    periods.set(period, sums.set(meter, (sums.get(meter) ?? 0) + quantity))
  }
  const sorted = [...periods].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sorted.flatMap(([period, sums]) =>
    meters.flatMap((meter) => {
      const quantity = Math.min(sums.get(meter) ?? 0, Number.MAX_SAFE_INTEGER)
      return quantity > 0 ? [{ period, meter, quantity }] : []
    }),
  )
}

async function readUsage(ctx: Context, tenantId: string, query: { from?: string; to?: string; by?: 'day' | 'month' }) {
  const { from, to } = reportRange(query, Date.now())
  // A caller who makes a request and then reads the report must find it there.
  await ctx.usageCounter.flush(tenantId)
  const [counted, spent] = await Promise.all([listUsage(ctx.db, tenantId, from, to), sumSpentByDay(ctx.db, tenantId, from, to)])
  const credits = spent.map((row) => ({ day: row.day, meter: 'credits' as const, quantity: row.credits }))
  return usageReport([...counted, ...credits], query.by ?? 'day')
}

const getUsage: HandlerOf<'getUsage'> = async ({ ctx, tenantId, query }) => ({
  status: 200,
  data: await readUsage(ctx, tenantId, query),
})

const readTenantUsage: HandlerOf<'readTenantUsage'> = async ({ ctx, params, query }) => {
  const tenant = await findTenant(ctx.db, params.tenant_id)
  if (!tenant) throw new ApiError('not_found')
  return { status: 200, data: await readUsage(ctx, tenant.id, query) }
}

export const usageHandlers = { getUsage, readTenantUsage } satisfies Partial<Handlers>
