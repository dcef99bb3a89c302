import type { Payments } from './payments.ts'

const lifetimeMs = 24 * 60 * 60 * 1_000

/** Where the built-in payment page of a checkout is, below the API's origin. */
export function testPagePath(checkoutId: string): string {
  return `/v1/checkout/${checkoutId}/pay`
}

/** Payments in which no money moves: the buyer meets a built-in page. Never in production. */
export function openTestPayments(publicUrl: string): Payments {
  return {
    provider: 'test',
    createPayment: async ({ checkoutId }) => ({
      url: publicUrl + testPagePath(checkoutId),
      reference: checkoutId,
      expiresAt: new Date(Date.now() + lifetimeMs).toISOString(),
    }),
  }
}
