import Type from 'typebox'
import { epochId } from './epochs.ts'
import { operation } from './operation.ts'
import { closed, credential, credits, nullable, PublicJwk, Timestamp } from './schemas.ts'

const walletCode = Type.String({ description: 'Spends the wallet (wlt_…). Shown once.' })
const base64url = { minLength: 1, maxLength: 1_400, pattern: '^[A-Za-z0-9_-]+$' }
const recoveryKey = Type.Optional(PublicJwk)

export const LicenseRedemption = closed({ license_key: credential('A license key (lic_…).'), recovery_key: recoveryKey })

export const TokenRedemption = closed({
  token: Type.String({
    ...base64url,
    description: 'The prepared message: a prefix of 32 bytes and the message. base64url, canonical.',
  }),
  sig: Type.String({ ...base64url, description: 'The unblinded signature. base64url, canonical.' }),
  epoch: epochId,
  recovery_key: recoveryKey,
})

export const creditOperations = {
  lookUpWallet: operation({
    id: 'lookUpWallet',
    kind: 'read',
    method: 'POST',
    path: '/wallets/lookup',
    status: 'live',
    tag: 'Credits',
    summary: 'What a wallet holds',
    description:
      'The wallet code travels in the body, never in an address. A coupon is accepted in its place. `balance` is what can be spent now; `held` ' +
      'is set aside for what runs. A code with nothing left under it is 404, just as one that never was: the answer does not tell which. ' +
      'A code is good at every tenant of the installation.',
    caller: 'publishable',
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
      'Mints a wallet, whose code is shown in this answer and never again. What is redeemed is itself the idempotency key: a repeat is 409 ' +
      '`already_spent` and never a second wallet, so do not send Idempotency-Key. With `recovery_key`, a repeat that bears the same one finds ' +
      'the wallet code in error.details, sealed to that key (compact JWE): a lost answer loses no money. An unknown license key or epoch is ' +
      '404; a signature that does not verify, an expired epoch or an encoding that is not canonical is 400. A token whose issuer cannot cover it ' +
      'now is 402, and stays good.',
    caller: 'publishable',
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
    summary: 'Prove the books',
    description:
      'Reads every transfer and checks, at one moment: debits equal credits, nothing is below zero, each balance is the sum of its rows, what ' +
      'is held is the sum of the open holds, and no hold or coupon is past its end. An empty `findings` is the proof.',
    caller: 'operator',
    answers: {
      200: {
        description: 'The report.',
        data: Type.Object({
          accounts: Type.Integer({ minimum: 0 }),
          transfers: Type.Integer({ minimum: 0 }),
          credits: credits({ description: 'Credits in circulation.' }),
          findings: Type.Array(Type.Object({ rule: Type.String(), subject: Type.String(), detail: Type.String() }), {
            description: 'What cannot be; at most 1,000.',
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
      "For issuers. Moves credits from the wallet, or else from the issuer's own balance, into a coupon that pays for sessions and paints. " +
      'What is left when it expires goes back to where it came from. A coupon is accepted in the place of the wallet; what comes out of one ' +
      'that expires never outlives it: without `expires_at`, or with a later one, the new coupon expires when the paying one does, and the ' +
      'answer’s `expires_at` says so. An unknown wallet code is 404. An Idempotency-Key never grants twice, also when its answer is no ' +
      'longer kept: then 409 `idempotency_key_reused`.',
    caller: 'secret',
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
          coupon: Type.String({ description: 'Pays for sessions and paints (cpn_…). Shown once.' }),
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
