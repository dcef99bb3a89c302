import { Type } from './type.ts'
import { operation } from './operation.ts'
import { developers } from './roles.ts'
import { closed, credits, id, nullable, PageQuery, Timestamp } from './schemas.ts'

/** The public half of a signing key for blind tokens. */
export const RsaPublicJwk = Type.Unsafe<{
  kty: 'RSA'
  n: string
  e: string
  kid?: string
  use?: 'sig'
  alg?: string
  ext?: boolean
  key_ops?: string[]
}>({
  type: 'object',
  required: ['kty', 'n', 'e'],
  properties: {
    kty: { type: 'string', const: 'RSA' },
    n: { type: 'string', pattern: '^[A-Za-z0-9_-]{342,683}$' },
    e: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,8}$' },
    kid: { type: 'string', maxLength: 200 },
    use: { type: 'string', const: 'sig' },
    alg: { type: 'string', maxLength: 40 },
    ext: { type: 'boolean' },
    key_ops: { type: 'array', items: { type: 'string', maxLength: 20 }, maxItems: 10 },
  },
  additionalProperties: false,
  description:
    'A public RSA JWK (RFC 7517) of 2,048 to 4,096 bits, n and e without leading zero bytes, e odd and at least 3, ' +
    'n without small factors.',
})

export const epochId = Type.String({
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'The thumbprint (RFC 7638) of the public key.',
})

export const Epoch = Type.Object({
  epoch: epochId,
  issuer: id('tenant'),
  public_key: RsaPublicJwk,
  value: credits({ minimum: 1, description: 'The value of one token, in whole credits.' }),
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
  log_proof: Type.Optional(
    Type.String({
      format: 'uri',
      description: 'The inclusion proof in the transparency log (C2SP tlog-proof). It exists some seconds after the epoch.',
    }),
  ),
})

const epochExample = {
  epoch: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  issuer: 'ten_4fRzK0vXcB1mQwErTy7uPa',
  public_key: { kty: 'RSA', n: 'u3Qc'.repeat(85) + 'Qw', e: 'AQAB' } as const,
  value: 10,
  created_at: '2026-11-20T09:30:00.000Z',
  expires_at: null,
}

export const epochOperations = {
  publishEpoch: operation({
    id: 'publishEpoch',
    kind: 'write',
    method: 'POST',
    path: '/epochs',
    status: 'live',
    tag: 'Credits',
    summary: "Publish a batch's public key",
    description:
      'Needs the issuer role. Tokens signed by the matching private key become redeemable ' +
      "(RSABSSA-SHA384-PSS-Randomized, RFC 9474, salt of 48 bytes), each for `value` credits out of the issuer's " +
      'balance. An epoch cannot be changed: a key that any tenant has published is 409 `state_conflict`; to ' +
      'rotate, publish a new epoch. Tokens can be redeemed until the epoch expires. Only `kty`, `n` and `e` of the ' +
      'JWK are stored; the id is computed from them.',
    caller: 'secret',
    roles: developers,
    audited: true,
    role: 'issuer',
    idempotency: 'accepted',
    body: closed({ public_key: RsaPublicJwk, value: credits({ minimum: 1 }), expires_at: Type.Optional(Timestamp) }),
    answers: { 201: { description: 'The id of the epoch.', data: Type.Object({ epoch: epochId }) } },
    errors: ['state_conflict'],
    example: { body: { public_key: epochExample.public_key, value: 10 }, data: { epoch: epochExample.epoch } },
  }),
  listEpochs: operation({
    id: 'listEpochs',
    kind: 'read',
    method: 'GET',
    path: '/epochs',
    status: 'live',
    tag: 'Credits',
    summary: 'List epochs',
    description:
      'Public and identical for every caller, so that anyone can check that all buyers get the same keys. Oldest first.',
    caller: 'anyone',
    query: PageQuery,
    answers: { 200: { description: 'A page of epochs.', data: Type.Array(Epoch), paged: true, maxAgeSeconds: 60 } },
    errors: ['invalid_cursor'],
    example: { data: [epochExample] },
  }),
  getEpoch: operation({
    id: 'getEpoch',
    kind: 'read',
    method: 'GET',
    path: '/epochs/{epoch}',
    status: 'live',
    tag: 'Credits',
    summary: 'Read an epoch',
    description: 'Public and identical for every caller.',
    caller: 'anyone',
    params: Type.Object({ epoch: epochId }),
    answers: { 200: { description: 'The epoch.', data: Epoch, maxAgeSeconds: 60 } },
    example: { data: epochExample },
  }),
}
