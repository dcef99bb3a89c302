import { isId } from '@atrium/contract/tokens'
import { InvalidArgumentError } from 'commander'

/** A whole number from 1. */
export function count(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError('must be a whole number of at least 1')
  return value
}

/** A whole number from 0. */
export function amount(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new InvalidArgumentError('must be a whole number')
  return value
}

/** From 1 to 100,000 percent. */
export function percent(text: string): number {
  const value = count(text)
  if (value > 100_000) throw new InvalidArgumentError('must be at most 100000')
  return value
}

export function time(text: string): string {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) throw new InvalidArgumentError('must be a time such as 2026-12-31T18:00:00Z')
  return at.toISOString()
}

export function tenantId(text: string): string {
  if (!isId('tenant', text)) throw new InvalidArgumentError('must be an id such as ten_4fRzK0vXcB1mQwErTy7uPa')
  return text
}

export function workers(text: string): number {
  const value = count(text)
  if (value > 64) throw new InvalidArgumentError('must be at most 64')
  return value
}

/** A time from 1 second to a day. */
export function seconds(text: string): number {
  const value = count(text)
  if (value > 86_400) throw new InvalidArgumentError('must be at most 86400')
  return value
}

/** From 0, which is any port. */
export function port(text: string): number {
  const value = amount(text)
  if (value > 65_535) throw new InvalidArgumentError('must be at most 65535')
  return value
}

export function httpUrl(text: string): string {
  if (!URL.canParse(text) || !['http:', 'https:'].includes(new URL(text).protocol))
    throw new InvalidArgumentError('must be an address such as http://localhost:3000/hook')
  return text
}
