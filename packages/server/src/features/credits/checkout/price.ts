import { maxPayment } from '@atrium/contract/checkout'
import type { Config } from '#config/config.ts'
import { invalid } from '#errors/api-error.ts'

/** What credits cost, in the currency's smallest unit. */
export function priceOf(credits: number, { creditPriceCents }: Pick<Config, 'creditPriceCents'>): number {
  const amount = credits * creditPriceCents
  if (amount > maxPayment)
    throw invalid('/credits', `one payment carries at most ${Math.floor(maxPayment / creditPriceCents)} credits`)
  return amount
}

/** 123 and usd as $1.23: each currency has its own number of decimals. */
export function priceText(amount: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
}
