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

export function time(text: string): string {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) throw new InvalidArgumentError('must be a time such as 2026-12-31T18:00:00Z')
  return at.toISOString()
}

export function workers(text: string): number {
  const value = count(text)
  if (value > 64) throw new InvalidArgumentError('must be at most 64')
  return value
}
