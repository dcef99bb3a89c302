import { isId } from '@atrium/contract/tokens'
import { isolated, pluralOf, readPageText, type PageText } from '@atrium/web/page-text/page-text'
import { escapeHtml } from '@atrium/web/share/escape-html'
import type { RenderedPage } from '@atrium/web/share/render-share-page'
import type { FastifyInstance, FastifyReply, onRequestHookHandler } from 'fastify'
import type { Context } from '#features/context.ts'
import { makeFormPage } from '#http/form-page.ts'
import { formOf, takeForms } from '#http/take-forms.ts'
import { testPagePath } from '#ports/payments/test-payments.ts'
import { type Checkout, formTarget, priceText, statusOf, withCheckoutId } from './checkout.ts'
import { completeCheckout } from './operations.ts'
import { findCheckoutById } from './store.ts'

const goods = { license_key: 'licenseKey', prefund: 'prefund' } as const satisfies Record<Checkout['purpose'], string>

/** Works without script. The form has no action, so that it posts to the page's own address. */
function renderPayPage(checkout: Checkout, price: string, text: PageText): RenderedPage {
  const words = text.checkout
  const { purpose, successUrl, cancelUrl } = checkout
  const body = [
    heading(checkout, text),
    `<p class="goods">${words[goods[purpose]]}</p>`,
    `<dl><dt>${words.price}</dt><dd>${escapeHtml(price)}</dd><dt>${words.charged}</dt><dd>${words.nothing}</dd></dl>`,
    '<form method="post">',
    `<button name="do" value="pay">${words.pay}</button>`,
    `<button name="do" value="cancel" class="quiet">${words.cancel}</button>`,
    '</form>',
    `<p class="note">${escapeHtml(words.returnTo(isolated(text, new URL(successUrl).host)))}</p>`,
  ]
  // Browsers apply form-action also to the redirect that answers the form.
  const targets = new Set(["'self'", formTarget(successUrl), formTarget(cancelUrl)])
  return renderDocument(words.payFor(creditsText(checkout, text)), body, [...targets].join(' '), text)
}

function renderPaidPage(checkout: Checkout, text: PageText): RenderedPage {
  const words = text.checkout
  const address = withCheckoutId(checkout.successUrl, checkout.id)
  const body = [
    `<h1>${words.paid}</h1>`,
    `<p class="goods">${words.sold(creditsText(checkout, text))}</p>`,
    link(address, words.goOn),
  ]
  return renderDocument(words.paid, body, "'none'", text)
}

function renderExpiredPage({ cancelUrl }: Checkout, text: PageText): RenderedPage {
  const words = text.checkout
  const body = [`<h1>${words.expiredHeading}</h1>`, `<p class="goods">${words.expired}</p>`, link(cancelUrl, words.goBack)]
  return renderDocument(words.expiredTitle, body, "'none'", text)
}

function renderNoCheckoutPage(text: PageText): RenderedPage {
  const { missingTitle, missingHeading, missing } = text.checkout
  return renderDocument(missingTitle, [`<h1>${missingHeading}</h1>`, `<p class="goods">${missing}</p>`], "'none'", text)
}

function heading({ credits }: Checkout, text: PageText): string {
  const count = new Intl.NumberFormat(text.language).format(credits)
  return `<h1><span class="count">${count}</span> ${pluralOf(text, text.checkout.credits, credits)}</h1>`
}

function creditsText({ credits }: Checkout, text: PageText): string {
  return pluralOf(text, text.checkout.amount, credits)
}

function link(address: string, words: string): string {
  return (
    `<p class="way"><a href="${escapeHtml(address)}">${words}</a></p>` +
    `<p class="note"><bdi>${escapeHtml(new URL(address).host)}</bdi></p>`
  )
}

function renderDocument(title: string, body: string[], formAction: string, text: PageText): RenderedPage {
  const { checkout } = text
  const mark = `<p class="mark"><strong>${checkout.testMode}</strong><span> ${checkout.noMoney}</span></p>`
  return renderPage({ title: `${title} · ${checkout.inTestMode}`, main: [mark, ...body], formAction, text })
}

const renderPage = makeFormPage(`
main{--inset:clamp(1.25rem,5vw,2rem);width:min(100%,26rem);padding:0 var(--inset) var(--inset);border:1px solid var(--line);border-radius:16px;background:var(--surface);overflow:clip;overflow-wrap:anywhere}
.mark{margin:0 calc(-1*var(--inset)) 1.75rem;padding:.875rem var(--inset) 1rem;border-bottom:2px dashed var(--on-warm);background:var(--warm);text-align:center;line-height:1.3}
.mark strong{display:block;font-size:1.625rem;font-weight:800;letter-spacing:.08em}
h1{margin:0;font-family:var(--serif);font-weight:600;font-size:1.375rem;line-height:1.25;letter-spacing:-.01em}
.count{display:block;font-size:min(10.5vw,3.25rem);line-height:1.05;letter-spacing:-.03em;font-variant-numeric:tabular-nums}
p{margin:0}
.goods{margin-top:.5rem;color:var(--muted)}
dl{display:grid;grid-template-columns:1fr auto;gap:.5rem 1rem;margin:1.5rem 0 0;padding-top:1.25rem;border-top:1px solid var(--line)}
dt{color:var(--muted)}
dd{margin:0;font-weight:600;font-variant-numeric:tabular-nums;text-align:end}
form{display:grid;gap:.625rem;margin-top:1.5rem}
button,.way a{display:block;width:100%;min-height:2.875rem;padding:.625rem 1rem;border:1px solid transparent;border-radius:var(--round);background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
.quiet{border-color:var(--line-strong);background:none;color:inherit}
.way{margin-top:1.5rem}
.note{margin-top:1.125rem;color:var(--muted);font-size:.875rem;text-align:center}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
@media (forced-colors:active){button,.way a{border-color:ButtonText}}
`)

const maxFormBytes = 1_024

/** The built-in payment page. Anyone with its address may use it, because no money moves. Never in production. */
export function addTestPage(app: FastifyInstance, ctx: Context, onRequest: onRequestHookHandler): void {
  const url = testPagePath(':id')
  // A separate Fastify context, so that no other route parses forms.
  void app.register(async (scope) => {
    takeForms(scope, maxFormBytes)
    scope.get<{ Params: { id: string } }>(url, { onRequest }, async (req, reply) => {
      const checkout = await findTestCheckout(ctx, req.params.id)
      return checkout ? sendPage(reply, pageOf(ctx, checkout)) : sendPage(reply.code(404), renderNoCheckoutPage)
    })
    scope.post<{ Params: { id: string } }>(url, { onRequest }, async (req, reply) => {
      const checkout = await findTestCheckout(ctx, req.params.id)
      if (!checkout) return sendPage(reply.code(404), renderNoCheckoutPage)
      const action = formOf(req).get('do')
      if (action === 'cancel') return reply.redirect(checkout.cancelUrl, 303)
      if (action !== 'pay') return sendPage(reply.code(400), pageOf(ctx, checkout))
      if (statusOf(checkout) === 'expired') return sendPage(reply.code(409), pageOf(ctx, checkout))
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

type Page = (text: PageText) => RenderedPage

function pageOf({ config }: Context, checkout: Checkout): Page {
  const status = statusOf(checkout)
  if (status === 'paid') return (text) => renderPaidPage(checkout, text)
  if (status === 'expired') return (text) => renderExpiredPage(checkout, text)
  const price = checkout.credits * config.creditPriceCents
  return (text) => renderPayPage(checkout, priceText(price, config.currency, text), text)
}

async function pay(ctx: Context, { tenantId, id: checkoutId, reference }: Checkout): Promise<void> {
  const event = { type: 'paid', provider: 'test', checkoutId, reference } as const
  await ctx.db.transaction((tx) => completeCheckout(ctx, tx, tenantId, event))
}

/** In the language of the browser. */
function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  const text = readPageText(reply.request.headers['accept-language'])
  const { html, csp } = page(text)
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', csp)
    .header('cache-control', 'no-store')
    .header('vary', 'Accept-Language')
    .header('content-language', text.language)
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
    .send(html)
}
