import { invalid } from '#errors/api-error.ts'

/** A time in a request, as RFC 3339 in UTC with milliseconds; it must lie ahead. */
export function futureTime(text: string, path: string): string {
  // The schema lets leap seconds pass, which no clock of ours can count.
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw invalid(path, 'is not a time')
  if (ms <= Date.now()) throw invalid(path, 'must be in the future')
  return new Date(ms).toISOString()
}
