import { api } from './api.ts'

export type Usage = Awaited<ReturnType<typeof api.getUsage>>['data'][number]
export type Meter = Usage['meter']

export interface UsageDays {
  /** UTC midnights in seconds, ascending, without a gap. */
  times: readonly number[]
  /** One value for each day. */
  of: (meter: Meter) => readonly number[]
}

const DAY_SECONDS = 86_400

/** Days in UTC, as YYYY-MM-DD; both are included. */
export interface Period {
  from: string
  to: string
}

export function lastDays(days: number): Period {
  const now = Date.now() / 1_000
  return { from: dateOf(now - (days - 1) * DAY_SECONDS), to: dateOf(now) }
}

/** This month up to today, or all of the one before. */
export function monthPeriod(which: 'this' | 'previous'): Period {
  const now = new Date()
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const dayOf = (month: number, day: number) => dateOf(Date.UTC(year, month, day) / 1_000)
  if (which === 'this') return { from: dayOf(month, 1), to: dateOf(now.getTime() / 1_000) }
  return { from: dayOf(month - 1, 1), to: dayOf(month, 0) }
}

/** The limits of the API. */
const MAX_DAYS_APART = 366
const FIRST_DAY = '2000-01-01'

/** Why the API would refuse the period, and at which of its days; undefined: it would not. */
export function problemOfPeriod({ from, to }: Period): { path: '/from' | '/to'; message: string } | undefined {
  if (from === '') return { path: '/from', message: 'Choose the first day.' }
  if (to === '') return { path: '/to', message: 'Choose the last day.' }
  if (from < FIRST_DAY) return { path: '/from', message: `Choose ${FIRST_DAY} or a later day.` }
  // Dates in this form are in the order of their texts.
  if (from > to) return { path: '/to', message: `The last day is before the first one, ${from}.` }
  if ((Date.parse(to) - Date.parse(from)) / 1_000 / DAY_SECONDS > MAX_DAYS_APART)
    return { path: '/from', message: `The days may be at most ${MAX_DAYS_APART} apart. Choose ${earliest(to)} or a later day.` }
  return undefined
}

function earliest(to: string): string {
  return dateOf(Date.parse(to) / 1_000 - MAX_DAYS_APART * DAY_SECONDS)
}

/** The usage of each day of the period. The API omits zeros; here each day has a value. */
export async function loadUsageDays(period: Period, signal: AbortSignal): Promise<UsageDays> {
  const { data } = await api.getUsage({ query: { ...period, by: 'day' }, signal })
  const first = Date.parse(period.from) / 1_000
  const days = (Date.parse(period.to) / 1_000 - first) / DAY_SECONDS + 1
  const times = Array.from({ length: days }, (_, at) => first + at * DAY_SECONDS)
  const rows = new Map(data.map(({ period, meter, quantity }) => [`${period} ${meter}`, quantity]))
  const made = new Map<Meter, readonly number[]>()
  return {
    times,
    of: (meter) => {
      const known = made.get(meter) ?? times.map((time) => rows.get(`${dateOf(time)} ${meter}`) ?? 0)
      made.set(meter, known)
      return known
    },
  }
}

function dateOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10)
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
