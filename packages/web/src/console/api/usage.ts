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

/** The usage of each of the last `days` days. The API omits zeros; here each day has a value. */
export async function loadUsageDays(days: number, signal: AbortSignal): Promise<UsageDays> {
  const today = Math.floor(Date.now() / 1_000 / DAY_SECONDS) * DAY_SECONDS
  const times = Array.from({ length: days }, (_, at) => today - (days - 1 - at) * DAY_SECONDS)
  const from = dateOf(times[0] ?? today)
  const { data } = await api.getUsage({ query: { from, to: dateOf(today), by: 'day' }, signal })
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
