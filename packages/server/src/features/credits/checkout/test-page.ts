import { createHash } from 'node:crypto'
import { isId } from '@atrium/contract/tokens'
import { ARCH_MARK } from '@atrium/web/share/arch'
import { escapeHtml } from '@atrium/web/share/escape-html'
import { HOUSE_ROOT } from '@atrium/web/share/house-style'
import type { FastifyInstance, FastifyReply, onRequestHookHandler } from 'fastify'
import type { Context } from '#features/context.ts'
import { testPagePath } from '#ports/payments/test-payments.ts'
import { type Checkout, formTarget, priceText, statusOf, withCheckoutId } from './checkout.ts'
import { completeCheckout } from './operations.ts'
import { findCheckoutById } from './store.ts'

/** A document and its Content-Security-Policy header. */
export interface RenderedPage {
  html: string
  csp: string
}

const goods: Record<Checkout['purpose'], string> = {
  license_key: 'A license key, which mints a wallet',
  prefund: 'Credits for the issuer’s balance',
}

/** Works without script. The form has no action, so that it posts to the page's own address. */
function renderPayPage(checkout: Checkout, price: string): RenderedPage {
  const { purpose, successUrl, cancelUrl } = checkout
  const body = [
    heading(checkout),
    `<p class="goods">${goods[purpose]}</p>`,
    `<dl><dt>Price</dt><dd>${escapeHtml(price)}</dd><dt>Charged here</dt><dd>Nothing</dd></dl>`,
    '<form method="post">',
    '<button name="do" value="pay">Pay</button>',
    '<button name="do" value="cancel" class="quiet">Cancel</button>',
    '</form>',
    `<p class="note">You return to ${escapeHtml(new URL(successUrl).host)}</p>`,
  ]
  // Browsers apply form-action also to the redirect that answers the form.
  const targets = new Set(["'self'", formTarget(successUrl), formTarget(cancelUrl)])
  return renderDocument(`Pay for ${creditsText(checkout)}`, body, [...targets].join(' '))
}

function renderPaidPage(checkout: Checkout): RenderedPage {
  const address = withCheckoutId(checkout.successUrl, checkout.id)
  const body = [
    '<h1>Paid</h1>',
    `<p class="goods">Sold: ${creditsText(checkout)}. Nothing was charged.</p>`,
    link(address, 'Continue'),
  ]
  return renderDocument('Paid', body, "'none'")
}

function renderExpiredPage({ cancelUrl }: Checkout): RenderedPage {
  const body = [
    '<h1>This checkout has expired</h1>',
    '<p class="goods">It can no longer be paid. Go back and start again.</p>',
    link(cancelUrl, 'Go back'),
  ]
  return renderDocument('Expired', body, "'none'")
}

function renderNoCheckoutPage(): RenderedPage {
  const body = ['<h1>There is no checkout here</h1>', '<p class="goods">The address may be incomplete.</p>']
  return renderDocument('No checkout', body, "'none'")
}

function heading({ credits }: Checkout): string {
  return `<h1><span class="count">${credits.toLocaleString('en')}</span> ${credits === 1 ? 'credit' : 'credits'}</h1>`
}

function creditsText({ credits }: Checkout): string {
  return `${credits.toLocaleString('en')} ${credits === 1 ? 'credit' : 'credits'}`
}

function link(address: string, text: string): string {
  return `<p class="way"><a href="${escapeHtml(address)}">${text}</a></p><p class="note">${escapeHtml(new URL(address).host)}</p>`
}

function renderDocument(title: string, body: string[], formAction: string): RenderedPage {
  const html = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="robots" content="noindex">',
    `<title>${escapeHtml(title)} · Test mode · Atrium</title>`,
    `<style>${testPageStyle}</style>`,
    '</head>',
    '<body>',
    `<header>${ARCH_MARK} Atrium</header>`,
    '<main>',
    '<p class="mark"><strong>TEST MODE</strong><span> No money moves</span></p>',
    ...body,
    '</main>',
    '</body>',
    '</html>',
  ].join('\n')
  const csp = [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    // Last, because it is the only directive with input from outside.
    `form-action ${formAction}`,
  ].join('; ')
  return { html, csp }
}

/** The style of the page. The policy allows this text by its hash. */
const testPageStyle = `
${HOUSE_ROOT}
*{box-sizing:border-box}
body{margin:0;min-height:100svh;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:1.25rem;padding:1.5rem max(1rem,env(safe-area-inset-left));background:var(--background);color:var(--text);font:1rem/1.55 var(--sans)}
header{display:flex;align-items:center;gap:.625rem;color:var(--accent);font:600 1.125rem/1.4 var(--serif)}
header svg{width:1.0625rem;height:1.25rem;fill:none;stroke:currentcolor;stroke-width:1.5}
main{--inset:clamp(1.25rem,5vw,2rem);width:min(100%,26rem);padding:0 var(--inset) var(--inset);border:1px solid var(--line);border-radius:16px;background:var(--surface);overflow:clip;overflow-wrap:anywhere}
.mark{margin:0 calc(-1*var(--inset)) 1.75rem;padding:.875rem var(--inset) 1rem;border-bottom:2px dashed var(--on-warm);background:var(--warm);text-align:center;line-height:1.3}
.mark strong{display:block;font-size:1.625rem;font-weight:800;letter-spacing:.08em}
h1{margin:0;font-family:var(--serif);font-weight:600;font-size:1.375rem;line-height:1.25;letter-spacing:-.01em}
.count{display:block;font-size:clamp(2.5rem,13vw,3.25rem);line-height:1.05;letter-spacing:-.03em;font-variant-numeric:tabular-nums}
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
`

const styleHash = createHash('sha256').update(testPageStyle).digest('base64')

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
    (_req, body, done) => done(null, new URLSearchParams(body.toString())),
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
