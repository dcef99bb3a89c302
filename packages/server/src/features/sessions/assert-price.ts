import { ApiError } from '#errors/api-error.ts'
import type { Agent } from '../agents/agent.ts'

/**
 * That a launch costs no more than was agreed to. Without a limit of the caller's own, nobody knows which price the buyer was shown: one that
 * was raised in the last ten minutes then counts as not agreed to.
 */
export function assertPrice(
  { priceCredits, raisedFromCredits }: Agent,
  maxPriceCredits: number | undefined,
  path = '/max_price_credits',
): void {
  const agreedCredits = maxPriceCredits ?? raisedFromCredits ?? priceCredits
  if (priceCredits <= agreedCredits) return
  const detail = { path, message: `the agent costs ${priceCredits} credits; ${agreedCredits} were agreed to` }
  throw new ApiError('price_changed', {
    message: `The agent costs ${priceCredits} credits, and ${agreedCredits} were agreed to. Nothing was charged.`,
    details: [{ ...detail, price_credits: priceCredits, agreed_price_credits: agreedCredits }],
  })
}
