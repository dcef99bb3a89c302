import { Type } from './type.ts'
import { operation } from './operation.ts'
import { analysts, developers } from './roles.ts'
import { closed, createdWithin, credential, credits, id, oneOf, pageQuery, Timestamp } from './schemas.ts'

const kind = oneOf(['session', 'budget', 'paint', 'grant', 'checkout', 'refund', 'loss', 'recovery', 'reinstatement'], {
  description:
    'session: the price. budget: what the agent of a session used; one for the launch and one for each top-up. ' +
    'refund: credits that were taken back because their payment was returned. loss: those that were spent or held. ' +
    'recovery: a part of a loss that is none any more, because the credits were taken back later or the payment came back. ' +
    'reinstatement: credits that were given back because the payment came back: a dispute was won.',
})

const Receipt = Type.Object({
  id: id('receipt'),
  receipt: Type.String({
    description:
      'A compact JWS (RFC 7515): ES256, `typ: receipt+jwt`, by a key of `/.well-known/jwks.json`. Its claims: `iss` (the API origin), `jti` (the ' +
      'id), `iat`, `kind`, `sub` (the session, artifact or checkout, or the transaction of a grant), `price`, `charged`, `held_at`, `joined_at`, ' +
      '`stopped_at`, `coupon_sha256` (hex, of the code that paid, or of the coupon that was granted) and `seq`. Of a session with a budget ' +
      'also what it used in all: `budget` and `used` (credits), `tokens` and `tool_calls`. The `charged` of its receipts sum to its charge.',
  }),
  kind,
  amount: credits({ description: 'The credits that were charged, granted or sold: `charged` of the receipt.' }),
  created_at: Timestamp,
})

const receiptExample = {
  id: 'rct_4fRzK0vXcB1mQwErTy7uPa',
  receipt: 'eyJhbGciOiJFUzI1NiIsInR5cCI6InJlY2VpcHQrand0In0…',
  kind: 'session' as const,
  amount: 5,
  created_at: '2026-11-20T09:45:00.000Z',
}

const page = { 200: { description: 'A page of receipts.', data: Type.Array(Receipt), paged: true } } as const

export const receiptOperations = {
  listReceipts: operation({
    id: 'listReceipts',
    kind: 'read',
    method: 'GET',
    path: '/receipts',
    status: 'live',
    tag: 'Credits',
    summary: 'List the receipts',
    description:
      'One receipt for each session, budget and painting that was settled, charged or not, and for each grant and sale of the ' +
      'tenant, newest first. A receipt is written in the transaction of its settlement and never changes. `seq` ' +
      'numbers the receipts of a tenant from 1 on, without a gap, so a copy of all of them can be checked for ' +
      'completeness. Any JOSE library verifies one. Its signature is made when it is read, so two copies of a receipt ' +
      'may differ in it, and in `kid`.',
    caller: 'secret',
    roles: analysts,
    query: closed({ ...createdWithin, ...pageQuery }),
    answers: page,
    errors: ['invalid_cursor'],
    example: { data: [receiptExample] },
  }),
  lookUpReceipts: operation({
    id: 'lookUpReceipts',
    kind: 'read',
    method: 'POST',
    path: '/receipts/lookup',
    status: 'live',
    tag: 'Credits',
    summary: 'List the receipts of a payer',
    description:
      'The receipts of what this wallet or coupon has paid, at any tenant of the installation, newest first. The code ' +
      'is sent in the body, never in a URL. It may be spent. A code that never existed has no receipts.',
    caller: 'publishable',
    roles: developers,
    body: closed({ wallet_code: credential('A wallet code (wlt_…) or coupon (cpn_…).'), ...pageQuery }),
    answers: page,
    errors: ['invalid_cursor'],
    example: { body: { wallet_code: 'wlt_…' }, data: [receiptExample] },
  }),
}
