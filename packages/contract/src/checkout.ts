import Type from 'typebox'
import { operation } from './operation.ts'
import { closed, credits, id, nullable, oneOf, Timestamp } from './schemas.ts'

/** What one payment carries at most, in the currency's smallest unit (Stripe's own limit); a credit costs at least one. */
export const maxPayment = 99_999_999

const purpose = oneOf(['license_key', 'prefund'], {
  description: "license_key: a key that mints a wallet. prefund: credits for the issuer's balance.",
})
const status = oneOf(['open', 'paid', 'expired'])
const returnAddress = Type.String({ minLength: 1, maxLength: 2_000, pattern: '^https?://' })

export const Checkout = Type.Object({
  id: id('checkout'),
  url: nullable(Type.String({ description: 'Where the buyer pays; null once it is paid, expired, or the money is on its way.' })),
  status,
  purpose,
  credits: credits(),
  license_key: Type.Optional(Type.String({ description: 'From the payment until it is redeemed (lic_…).' })),
  created_at: Timestamp,
  expires_at: Timestamp,
})

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
  createCheckout: operation({
    id: 'createCheckout',
    kind: 'claimed',
    method: 'POST',
    path: '/checkout',
    status: 'live',
    tag: 'Credits',
    summary: 'Sell credits',
    description:
      'Answers with the address of a payment page: Stripe Checkout where this installation has a Stripe key, else a built-in page that is ' +
      'marked as test mode (never in production, where this answers 503 until Stripe is configured). The page sends the buyer back to ' +
      'success_url, with `checkout_id` added to its query, or to cancel_url. It can be paid for 24 hours. `prefund` is for issuers.',
    caller: 'secret',
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
    summary: 'How a checkout stands',
    description:
      'Every answer from the payment until the redemption holds the license key, so that a lost answer loses nothing; once it is redeemed the ' +
      'key is erased. A checkout that expired becomes `paid` all the same if ' +
      'the money comes late; while a slow payment is on its way it stays `open`.',
    caller: 'secret',
    params: Type.Object({ id: id('checkout') }),
    answers: { 200: { description: 'The checkout.', data: Checkout, oneTimeSecret: true } },
    example: { data: { ...checkoutExample, url: null, status: 'paid', license_key: 'lic_…' } },
  }),
}
