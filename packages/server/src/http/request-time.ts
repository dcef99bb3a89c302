import { invalid } from '#errors/api-error.ts'

// PostgreSQL has no year 0.
const firstMs = Date.parse('0001-01-01T00:00:00.000Z')
const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

/** Normalises a time of a request to RFC 3339 in UTC with milliseconds. */
export function requestTime(text: string, path: string): string {
  // The schema accepts leap seconds, which Date cannot represent.
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw invalid(path, 'is not a time')
  // 9999-12-31T23:59:59-14:00 is in the year 10000 of UTC, which RFC 3339 cannot write.
  if (ms > lastMs) throw invalid(path, 'must be before the year 10000')
  if (ms < firstMs) throw invalid(path, 'must be after the year 0')
  return new Date(ms).toISOString()
}

/** The same. Throws if the time is not in the future. */
export function futureTime(text: string, path: string): string {
  const time = requestTime(text, path)
  if (Date.parse(time) <= Date.now()) throw invalid(path, 'must be in the future')
  return time
}
