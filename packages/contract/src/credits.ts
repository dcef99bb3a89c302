import { Type } from './type.ts'
import { epochId } from './epochs.ts'
import { operation } from './operation.ts'
import { analysts, developers } from './roles.ts'
import { closed, createdWithin, credential, credits, nullable, oneOf, pageQuery, PublicJwk, Timestamp } from './schemas.ts'

const walletCode = Type.String({ description: 'Anyone who has it can spend the wallet (wlt_…). Returned once.' })
const base64url = { minLength: 1, maxLength: 1_400, pattern: '^[A-Za-z0-9_-]+$' }
const recoveryKey = Type.Optional(PublicJwk)

export const LicenseRedemption = closed({ license_key: credential('A license key (lic_…).'), recovery_key: recoveryKey })

export const TokenRedemption = closed({
  token: Type.String({
    ...base64url,
    description: 'The prepared message: a random prefix of 32 bytes, then the message. Canonical base64url.',
  }),
  sig: Type.String({ ...base64url, description: 'The unblinded signature. Canonical base64url.' }),
  epoch: epochId,
  recovery_key: recoveryKey,
})

const movementKind = oneOf(
  ['prefund', 'sale', 'redemption', 'grant', 'return', 'fee', 'hold', 'capture', 'release', 'refund', 'loss'],
  {
    description:
      'prefund, sale: a payment for the balance or for a license key. redemption: a license key or token became a wallet. grant: a coupon. return: the ' +
      'rest of an expired coupon. fee: of the installation. hold: set aside for a session or a painting; capture and release end it. refund: taken back because its payment was returned ' +
      '(from the platform: given back because a dispute was won). loss: the part of it that was spent or held (from the loss account: what of it was recovered).',
  },
)
const accountKind = oneOf(['platform', 'issuer', 'revenue', 'wallet', 'coupon', 'license', 'held', 'loss'])

/** An inconsistency of the ledger. */
export const AuditFinding = Type.Object({
  rule: Type.String(),
  subject: Type.String({ description: 'The account or hold, as tenant/id.' }),
  detail: Type.String(),
})

export const creditOperations = {
  listMovements: operation({
    id: 'listMovements',
    kind: 'read',
    method: 'GET',
    path: '/wallets/movements',
    status: 'live',
    tag: 'Credits',
    summary: 'List the movements of issued credits',
    description:
      'Needs the issuer role. Every movement of credits from or to what the tenant issued: its balance, and the license keys, wallets and coupons that ' +
      'came from it, newest first. An account is named by its kind alone: neither a code, nor which wallet or coupon it is, nor where it was ' +
      'spent is part of the answer, so an issuer cannot follow a person. A call reads a bounded number of movements: with filters a page may hold ' +
      'fewer than `limit`, or none, and still have a next_cursor.',
    caller: 'secret',
    roles: analysts,
    role: 'issuer',
    query: closed({ kind: Type.Optional(movementKind), ...createdWithin, ...pageQuery }),
    answers: {
      200: {
        description: 'A page of movements.',
        data: Type.Array(
          Type.Object({
            id: Type.String(),
            kind: movementKind,
            from: accountKind,
            to: accountKind,
            amount: credits(),
            memo: nullable(Type.String({ description: 'The memo of a grant that the tenant made; otherwise null.' })),
            created_at: Timestamp,
          }),
        ),
        paged: true,
      },
    },
    errors: ['invalid_cursor'],
    example: {
      data: [
        {
          id: 'txn_4fRzK0vXcB1mQwErTy7uPa',
          kind: 'grant',
          from: 'issuer',
          to: 'coupon',
          amount: 5,
          memo: 'One evening with the lamplighter',
          created_at: '2026-11-20T09:30:00.000Z',
        },
      ],
    },
  }),
  getIssuerBalance: operation({
    id: 'getIssuerBalance',
    kind: 'read',
    method: 'GET',
    path: '/wallets/issuer',
    status: 'live',
    tag: 'Credits',
    summary: "Read the issuer's balance",
    description:
      'Needs the issuer role. What is left of the credits that the tenant has prefunded: grants, fees and redeemed tokens ' +
      'of its epochs take from it. What its agents earned is not part of it (`GET /earnings`).',
    caller: 'secret',
    roles: analysts,
    role: 'issuer',
    answers: {
      200: { description: 'The balance.', data: Type.Object({ balance: credits(), currency: Type.Literal('credits') }) },
    },
    example: { data: { balance: 250, currency: 'credits' } },
  }),
  lookUpWallet: operation({
    id: 'lookUpWallet',
    kind: 'read',
    method: 'POST',
    path: '/wallets/lookup',
    status: 'live',
    tag: 'Credits',
    summary: 'Read the balance of a wallet',
    description:
      'The wallet code is sent in the body, never in a URL. A coupon is accepted in its place. `balance` can be ' +
      'spent now; `held` is reserved by open holds. An empty account is 404, like a code that never existed; the ' +
      'answer does not distinguish them. A code is valid with every tenant of the installation.',
    caller: 'publishable',
    roles: developers,
    body: closed({ wallet_code: credential('A wallet code (wlt_…) or coupon (cpn_…).') }),
    answers: {
      200: {
        description: 'The balance.',
        data: Type.Object({
          balance: credits(),
          held: credits(),
          currency: Type.Unsafe<'credits'>({ type: 'string', const: 'credits' }),
        }),
      },
    },
    errors: ['not_found'],
    example: { body: { wallet_code: 'wlt_…' }, data: { balance: 95, held: 5, currency: 'credits' } },
  }),
  redeemWallet: operation({
    id: 'redeemWallet',
    kind: 'read',
    method: 'POST',
    path: '/wallets/redeem',
    status: 'live',
    tag: 'Credits',
    summary: 'Redeem a license key or a token',
    description:
      'Creates a wallet, whose code is returned only in this answer. The redeemed key or token is itself the ' +
      'idempotency key: a repeat is 409 `already_spent` and never creates a second wallet, so do not send ' +
      'Idempotency-Key.\n\n' +
      'With `recovery_key`, a repeat with the same key gets the wallet code in error.details, ' +
      'sealed to that key (compact JWE), so a response that is lost in transit loses no money.\n\n' +
      'An unknown license ' +
      'key or epoch is 404; a signature that does not verify, an expired epoch or an encoding that is not ' +
      'canonical is 400. If the issuer’s balance does not cover the token, the answer is 402 and the token stays ' +
      'valid.',
    caller: 'publishable',
    roles: developers,
    body: Type.Union([LicenseRedemption, TokenRedemption]),
    answers: {
      201: {
        description: 'The wallet.',
        data: Type.Object({ wallet_code: walletCode, balance: credits() }),
        oneTimeSecret: true,
      },
    },
    errors: ['already_spent', 'not_found', 'insufficient_credit'],
    example: { body: { license_key: 'lic_…' }, data: { wallet_code: 'wlt_…', balance: 100 } },
  }),
  auditBooks: operation({
    id: 'auditBooks',
    kind: 'read',
    method: 'GET',
    path: '/operator/audit',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Audit the ledger',
    description:
      'Reads every transfer in one snapshot and checks that debits equal credits, no balance is negative, each ' +
      'balance is the sum of its rows, the amount held is the sum of the open holds, no hold or coupon is past ' +
      'its end, and what was returned of a payment is taken back once. Empty `findings` mean that the ledger is consistent.',
    caller: 'operator',
    answers: {
      200: {
        description: 'The report.',
        data: Type.Object({
          accounts: Type.Integer({ minimum: 0 }),
          transfers: Type.Integer({ minimum: 0 }),
          credits: credits({ description: 'Credits in circulation.' }),
          findings: Type.Array(AuditFinding, {
            description: 'The inconsistencies that were found; at most 1,000.',
          }),
        }),
      },
    },
    example: { data: { accounts: 1_204, transfers: 5_310, credits: 98_500, findings: [] } },
  }),
  grantCoupon: operation({
    id: 'grantCoupon',
    kind: 'claimed',
    method: 'POST',
    path: '/wallets/grant',
    status: 'live',
    tag: 'Credits',
    summary: 'Grant a coupon',
    description:
      "Needs the issuer role. Moves credits from the wallet, or without one from the issuer's balance, into a " +
      'coupon that pays for sessions and paintings. What remains when it expires returns to its source.\n\n' +
      'A coupon ' +
      'is accepted in place of the wallet; a coupon paid by one that expires never outlives it: without ' +
      '`expires_at`, or with a later one, it expires with the paying coupon, and the answer contains that time as ' +
      '`expires_at`.\n\n' +
      'An unknown wallet code is 404.\n\n' +
      'An Idempotency-Key never grants twice, even after its stored ' +
      'answer has expired: then the answer is 409 `idempotency_key_reused`.',
    caller: 'secret',
    roles: developers,
    role: 'issuer',
    idempotency: 'required',
    body: closed({
      amount: credits({ minimum: 1 }),
      wallet_code: Type.Optional(credential('A wallet code (wlt_…) or coupon (cpn_…).')),
      expires_at: Type.Optional(Timestamp),
      memo: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'A note for the ledger.' })),
    }),
    answers: {
      201: {
        description: 'The coupon.',
        data: Type.Object({
          coupon: Type.String({ description: 'Pays for sessions and paintings (cpn_…). Returned once.' }),
          amount: credits(),
          expires_at: nullable(Timestamp),
        }),
        oneTimeSecret: true,
      },
    },
    errors: ['insufficient_credit', 'not_found'],
    example: {
      body: { amount: 5, wallet_code: 'wlt_…', memo: 'One evening with the lamplighter' },
      data: { coupon: 'cpn_…', amount: 5, expires_at: null },
    },
  }),
}
