import type { FastifyInstance, FastifyReply, onRequestHookHandler } from 'fastify'
import { isId } from '@atrium/contract/tokens'
import type { Context } from '#features/context.ts'
import { testPagePath } from '#ports/payments/test-payments.ts'
import { priceText, statusOf, type Checkout } from './checkout.ts'
import { completeCheckout } from './complete-checkout.ts'
import { withCheckoutId } from './return-address.ts'
import { findCheckoutById } from './store.ts'
import { renderExpiredPage, renderNoCheckoutPage, renderPaidPage, renderPayPage, type RenderedPage } from './test-page.ts'

const maxFormBytes = 1_024

/** The built-in payment page. Anyone with its address may use it, because no money moves. Never in production. */
export function addTestPage(app: FastifyInstance, ctx: Context, onRequest: onRequestHookHandler): void {
  const url = testPagePath(':id')
  // A separate Fastify context, so that no other route parses forms.
  void app.register(async (scope) => {
    takeForms(scope)
    scope.get<{ Params: { id: string } }>(url, { onRequest }, async (req, reply) => {
      const checkout = await findTestCheckout(ctx, req.params.id)
      return checkout ? sendPage(reply, pageOf(ctx, checkout)) : sendPage(reply.code(404), renderNoCheckoutPage())
    })
    scope.post<{ Params: { id: string } }>(url, { onRequest }, async (req, reply) => {
      const checkout = await findTestCheckout(ctx, req.params.id)
      if (!checkout) return sendPage(reply.code(404), renderNoCheckoutPage())
      const action = req.body instanceof URLSearchParams ? req.body.get('do') : null
      if (action === 'cancel') return reply.redirect(checkout.cancelUrl, 303)
      if (action !== 'pay') return sendPage(reply.code(400), pageOf(ctx, checkout))
      if (statusOf(checkout, Date.now()) === 'expired') return sendPage(reply.code(409), pageOf(ctx, checkout))
      await pay(ctx, checkout)
      return reply.redirect(withCheckoutId(checkout.successUrl, checkout.id), 303)
    })
  })
}

/** Only checkouts made for this page: it must not complete a checkout of a real provider. */
async function findTestCheckout(ctx: Context, id: string): Promise<Checkout | undefined> {
  const checkout = isId('checkout', id) ? await findCheckoutById(ctx.db, id) : undefined
  return checkout?.provider === 'test' ? checkout : undefined
}

function pageOf({ config }: Context, checkout: Checkout): RenderedPage {
  const status = statusOf(checkout, Date.now())
  if (status === 'paid') return renderPaidPage(checkout)
  if (status === 'expired') return renderExpiredPage(checkout)
  return renderPayPage(checkout, priceText(checkout.credits * config.creditPriceCents, config.currency))
}

async function pay(ctx: Context, { tenantId, id: checkoutId, reference }: Checkout): Promise<void> {
  const event = { type: 'paid', provider: 'test', checkoutId, reference } as const
  await ctx.db.transaction((tx) => completeCheckout(ctx, tx, tenantId, event))
}

function takeForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: maxFormBytes },
    (_req, body, done) => done(null, new URLSearchParams(body as string)),
  )
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxFormBytes }, (_req, _body, done) => done(null, undefined))
}

function sendPage(reply: FastifyReply, { html, csp }: RenderedPage): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', csp)
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
    .send(html)
}
