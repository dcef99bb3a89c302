import { createHash } from 'node:crypto'
import { ARCH_MARK } from '@atrium/web/share/arch'
import { escapeHtml } from '@atrium/web/share/escape-html'
import type { Checkout } from './checkout.ts'
import { formTarget, withCheckoutId } from './return-address.ts'
import { testPageStyle } from './test-page-style.ts'

/** A document and the Content-Security-Policy header it must be served with. */
export interface RenderedPage {
  html: string
  csp: string
}

const goods: Record<Checkout['purpose'], string> = {
  license_key: 'A license key, which mints a wallet',
  prefund: 'Credits for the issuer’s balance',
}

/** Complete without script. The form has no action: it posts to the page's own address. */
export function renderPayPage(checkout: Checkout, price: string): RenderedPage {
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
  // Browsers hold a form to this policy also where the answer redirects to.
  const targets = new Set(["'self'", formTarget(successUrl), formTarget(cancelUrl)])
  return renderDocument(`Pay for ${creditsText(checkout)}`, body, [...targets].join(' '))
}

export function renderPaidPage(checkout: Checkout): RenderedPage {
  const address = withCheckoutId(checkout.successUrl, checkout.id)
  const body = [
    '<h1>Paid</h1>',
    `<p class="goods">Sold: ${creditsText(checkout)}. Nothing was charged.</p>`,
    link(address, 'Continue'),
  ]
  return renderDocument('Paid', body, "'none'")
}

export function renderExpiredPage({ cancelUrl }: Checkout): RenderedPage {
  const body = [
    '<h1>This checkout has expired</h1>',
    '<p class="goods">It can no longer be paid. Go back and start again.</p>',
    link(cancelUrl, 'Go back'),
  ]
  return renderDocument('Expired', body, "'none'")
}

export function renderNoCheckoutPage(): RenderedPage {
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
    // Last: it alone names something that came from outside.
    `form-action ${formAction}`,
  ].join('; ')
  return { html, csp }
}

const styleHash = createHash('sha256').update(testPageStyle).digest('base64')
