import type { Payments } from './payments.ts'

const lifetimeMs = 24 * 60 * 60 * 1_000

/** The path of a checkout's built-in payment page. */
export function testPagePath(checkoutId: string): string {
  return `/v1/checkout/${checkoutId}/pay`
}

/** Simulated payments with a built-in page. No money moves. Never in production. */
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
