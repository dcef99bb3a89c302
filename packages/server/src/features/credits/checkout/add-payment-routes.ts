import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../context.ts'
import { addStripeWebhook } from './add-stripe-webhook.ts'
import { addTestPage } from './add-test-page.ts'

/** What a payment needs besides the API's operations: the provider's way in, or the built-in page in a provider's place. */
export function addPaymentRoutes(app: FastifyInstance, ctx: Context): void {
  const { payments } = ctx
  if (payments?.readNotification) addStripeWebhook(app, ctx, payments.readNotification)
  if (payments?.provider === 'test') addTestPage(app, ctx)
}
