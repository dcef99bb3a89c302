import { Type } from './type.ts'
import { operation } from './operation.ts'
import { analysts, developers } from './roles.ts'
import { closed, createdWithin, credits, id, nullable, oneOf, pageQuery, Timestamp } from './schemas.ts'

/**
 * The largest amount of one payment, in the currency's smallest unit (Stripe's limit). A credit costs at least one
 * unit.
 */
export const maxPayment = 99_999_999

const purpose = oneOf(['license_key', 'prefund'], {
  description: "license_key: a key that can be redeemed for a wallet. prefund: credits for the issuer's balance.",
})
const status = oneOf(['open', 'paid', 'expired'])
const returnAddress = Type.String({ minLength: 1, maxLength: 2_000, pattern: '^https?://' })

export const Checkout = Type.Object({
  id: id('checkout'),
  url: nullable(
    Type.String({
      description: 'The payment page; null once the checkout is paid or expired, or while a payment is being processed.',
    }),
  ),
  status,
  purpose,
  credits: credits(),
  license_key: Type.Optional(Type.String({ description: 'Present from the payment until the key is redeemed (lic_…).' })),
  created_at: Timestamp,
  expires_at: Timestamp,
})

const { license_key: _licenseKey, ...listed } = Checkout.properties
/** A checkout as a list shows it: without its license key. */
const ListedCheckout = Type.Object(listed)

const checkoutExample = {
  id: 'chk_4fRzK0vXcB1mQwErTy7uPa',
  url: 'http://localhost:8787/v1/checkout/chk_4fRzK0vXcB1mQwErTy7uPa/pay',
  status: 'open',
  purpose: 'license_key',
  credits: 100,
  created_at: '2026-11-20T09:30:00.000Z',
  expires_at: '2026-11-21T09:30:00.000Z',
}

export const checkoutOperations = {
  listCheckouts: operation({
    id: 'listCheckouts',
    kind: 'read',
    method: 'GET',
    path: '/checkout',
    status: 'live',
    tag: 'Credits',
    summary: 'List the checkouts',
    description:
      "The tenant's checkouts, newest first. The list has no license keys; `GET /checkout/{id}` returns the key. A call reads a bounded number of " +
      'checkouts: with filters a page may hold fewer than `limit`, or none, and still have a next_cursor. A checkout that was paid or abandoned ' +
      'is deleted after the time that the installation sets; its movements are kept.',
    caller: 'secret',
    roles: analysts,
    query: closed({ status: Type.Optional(status), purpose: Type.Optional(purpose), ...createdWithin, ...pageQuery }),
    answers: { 200: { description: 'A page of checkouts.', data: Type.Array(ListedCheckout), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [checkoutExample] },
  }),
  createCheckout: operation({
    id: 'createCheckout',
    kind: 'claimed',
    method: 'POST',
    path: '/checkout',
    status: 'live',
    tag: 'Credits',
    summary: 'Sell credits',
    description:
      'Returns the URL of a payment page: Stripe Checkout if this installation has a Stripe key, else a built-in ' +
      'page that is marked as test mode (in production the answer is 503 until Stripe is configured). The page ' +
      'redirects the buyer to success_url, with `checkout_id` added to its query, or to cancel_url. A checkout can ' +
      'be paid for 24 hours. `prefund` needs the issuer role.',
    caller: 'secret',
    roles: developers,
    idempotency: 'accepted',
    body: closed({
      purpose,
      credits: Type.Integer({ minimum: 1, maximum: maxPayment, description: 'Whole credits.' }),
      success_url: returnAddress,
      cancel_url: returnAddress,
    }),
    answers: { 201: { description: 'The checkout.', data: Type.Object({ id: id('checkout'), url: Type.String(), status }) } },
    errors: ['issuer_role_required'],
    example: {
      body: {
        purpose: 'license_key',
        credits: 100,
        success_url: 'https://harbour.example/thanks',
        cancel_url: 'https://harbour.example/shop',
      },
      data: { id: checkoutExample.id, url: checkoutExample.url, status: 'open' },
    },
  }),
  getCheckout: operation({
    id: 'getCheckout',
    kind: 'read',
    method: 'GET',
    path: '/checkout/{id}',
    status: 'live',
    tag: 'Credits',
    summary: 'Read a checkout',
    description:
      'Every answer from the payment until the redemption contains the license key, so a response that is lost in ' +
      'transit loses nothing. Redemption erases the key. An expired checkout still becomes `paid` if the payment ' +
      'arrives late. While a payment is being processed, the checkout stays `open`.',
    caller: 'secret',
    roles: developers,
    params: Type.Object({ id: id('checkout') }),
    answers: { 200: { description: 'The checkout.', data: Checkout, oneTimeSecret: true } },
    example: { data: { ...checkoutExample, url: null, status: 'paid', license_key: 'lic_…' } },
  }),
}
