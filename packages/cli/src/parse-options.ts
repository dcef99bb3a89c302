import { isId } from '@atrium/contract/tokens'
import { InvalidArgumentError } from 'commander'

/** A whole number from 1. */
export function count(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError('It must be a whole number of at least 1')
  return value
}

/** A whole number from 0. */
export function amount(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new InvalidArgumentError('It must be a whole number')
  return value
}

/** From 1 to 100,000 percent. */
export function percent(text: string): number {
  const value = count(text)
  if (value > 100_000) throw new InvalidArgumentError('It must be at most 100000')
  return value
}

const rfc3339 = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/** `Date` alone would read 40 as a year, the 30th of February as a day in March, and a time without a zone as a local one. */
export function time(text: string): string {
  const day = Date.parse(rfc3339.exec(text)?.[1] ?? '')
  if (Number.isNaN(day) || !text.startsWith(new Date(day).toISOString().slice(0, 10)))
    throw new InvalidArgumentError('It must be an RFC 3339 time with its zone, such as 2026-12-31T18:00:00Z')
  return new Date(text.toUpperCase()).toISOString()
}

export function tenantId(text: string): string {
  if (!isId('tenant', text)) throw new InvalidArgumentError('It must be an id such as ten_4fRzK0vXcB1mQwErTy7uPa')
  return text
}

export function workers(text: string): number {
  const value = count(text)
  if (value > 64) throw new InvalidArgumentError('It must be at most 64')
  return value
}

/** A time from 1 second to a day. */
export function seconds(text: string): number {
  const value = count(text)
  if (value > 86_400) throw new InvalidArgumentError('It must be at most 86400')
  return value
}

/** From 0, which is any port. */
export function port(text: string): number {
  const value = amount(text)
  if (value > 65_535) throw new InvalidArgumentError('It must be at most 65535')
  return value
}

export function httpUrl(text: string): string {
  if (!URL.canParse(text) || !['http:', 'https:'].includes(new URL(text).protocol))
    throw new InvalidArgumentError('It must be an address such as http://localhost:3000/hook')
  return text
}
