import type { Config } from '#config/config.ts'
import type { StripeSecrets } from '#config/secrets.ts'
import type { Payments } from './payments.ts'
import { openStripePayments } from './stripe-payments.ts'
import { openTestPayments } from './test-payments.ts'

/** Returns Stripe if there is a key, else the built-in test page; in production nothing replaces Stripe. */
export async function openPayments(config: Config, stripe: StripeSecrets | undefined): Promise<Payments | undefined> {
  if (stripe) return openStripePayments({ ...stripe, apiUrl: config.stripeApiUrl })
  return config.production ? undefined : openTestPayments(config.publicUrl)
}
