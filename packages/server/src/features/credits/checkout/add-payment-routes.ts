import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import type { Context } from '#features/context.ts'
import { addStripeWebhook } from './add-stripe-webhook.ts'
import { addTestPage } from './add-test-page.ts'

/**
 * The routes of payments besides the API's operations: the provider's webhook, or the built-in test page. `limitStrangers` limits the test page's
 * visitors by address.
 */
export function addPaymentRoutes(app: FastifyInstance, ctx: Context, limitStrangers: onRequestHookHandler): void {
  const { payments } = ctx
  if (payments?.readNotification) addStripeWebhook(app, ctx, payments.readNotification)
  if (payments?.provider === 'test') addTestPage(app, ctx, limitStrangers)
}
