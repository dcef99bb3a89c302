import type { CallOptions } from './call-api.ts'

/** What a request needs to reach the check of the wrong place. */
export interface Surroundings {
  /** A publishable key. */
  key: string
  /** A secret key. */
  secret: string
  collection: string
  /** The collection's owner token. */
  token: string
}

/** Requests that carry the text in a wrong place. Each must be refused. */
export function wrongPlaces(text: string, { key, secret, collection, token }: Surroundings): [string, CallOptions][] {
  const quoted = JSON.stringify(text)
  const encoded = encodeURIComponent(text)
  const items = `/v1/collections/${collection}/items`
  const artifacts = `POST /v1/collections/${collection}/artifacts`
  const page = encodeURIComponent(`http://localhost/v1/collections/${collection}/render`)
  const broken = [
    text,
    `{"a":${text}}`,
    `{"kind":${quoted}`,
    `${quoted} ${text}`,
    `[${quoted}]`,
    quoted,
    `{"kind":${quoted}\u0000}`,
  ]
  const doubled = `{"kind":"secret","kind":${quoted}}`
  const values = [
    { kind: text },
    ...['expires_at', 'rotates', 'overlap_seconds'].map((name) => ({ kind: 'secret', [name]: text })),
  ]
  const recipient = { kty: 'EC', crv: 'P-256', x: text, y: text }
  const basic = `Basic ${Buffer.from(text).toString('base64')}`
  return [
    ...[...broken, doubled, ...values].map((body): [string, CallOptions] => [
      'POST /v1/tenant/keys',
      { key: secret, body, idempotencyKey: text.slice(0, 255) },
    ]),
    ...[...broken, doubled].map((body): [string, CallOptions] => ['POST /v1/tenants/signup', { body }]),
    ['POST /v1/tenants/signup', { body: { invite_code: `${text.slice(0, 90)}0`, name: 'x', email: 'a@example.com' } }],
    ['POST /v1/tenants/signup', { body: { invite_code: 'inv_', name: 'x', email: text } }],
    [`POST ${items}`, { key, token, body: { type: text, content: { a: 1 }, author: 1 } }],
    ['POST /v1/collections', { key, body: { metadata: text } }],
    ['POST /v1/collections', { key, body: { box: { recipient } } }],
    [artifacts, { key, token, body: { kind: 'image', url: `https://ann:${encoded}@pictures.example/` } }],
    [artifacts, { key, token, body: { kind: 'image', url: text } }],
    [`GET ${items}?cursor=${encoded}`, { key, token }],
    [`GET ${items}?limit=${encoded}`, { key, token }],
    [`GET /v1/tenant?key=${encoded}`, {}],
    [`GET /v1/oembed?url=${encoded}`, {}],
    [`GET /v1/oembed?url=${page}&format=${encoded}`, {}],
    [`GET /v1/collections/${encoded}`, { key }],
    [`GET /v1/${encoded}`, {}],
    [`GET /v1/tenant%2f${encoded}`, { key: secret }],
    [`GET ${items}`, { key, token: `${text}0` }],
    ['GET /v1/tenant', { headers: { authorization: basic, cookie: `session=${encoded}` } }],
    ['GET /v1/tenant', { headers: { authorization: text, referer: `http://localhost/?${encoded}` } }],
    ['GET /v1/tenant', { headers: { 'x-api-key': `${text}0` } }],
    ['POST /v1/tenants', { headers: { 'x-admin-token': `${text}0` }, body: { name: 'x' } }],
    ...walletPlaces(text, { key, secret }, recipient),
    ...sessionPlaces(text, key),
    [
      'POST /v1/tenant/keys',
      { key: secret, body: { kind: 'secret' }, headers: { 'content-type': `text/plain; key=${encoded}` } },
    ],
  ]
}

/** Where codes that hold credits belong. */
function walletPlaces(
  text: string,
  { key, secret }: Pick<Surroundings, 'key' | 'secret'>,
  recipient: object,
): [string, CallOptions][] {
  const wrong = `${text.slice(0, 90)}0`
  const body = { purpose: 'license_key', credits: 1 }
  const address = `https://ann:${encodeURIComponent(text)}@shop.example/`
  return [
    ['POST /v1/wallets/lookup', { key, body: { wallet_code: wrong } }],
    ['POST /v1/wallets/redeem', { key, body: { license_key: wrong } }],
    ['POST /v1/wallets/redeem', { key, body: { license_key: wrong, recovery_key: recipient } }],
    ['POST /v1/wallets/redeem', { key, body: { token: text, sig: text, epoch: text } }],
    ['POST /v1/wallets/grant', { key: secret, body: { amount: 1, wallet_code: text } }],
    ['POST /v1/wallets/grant', { key: secret, idempotencyKey: text, body: { amount: 1, wallet_code: wrong, memo: text } }],
    ['POST /v1/checkout', { key: secret, body: { ...body, success_url: address, cancel_url: address } }],
    ['POST /v1/checkout', { key: secret, body: { ...body, success_url: text, cancel_url: text } }],
    ['PUT /v1/tenant/provider-keys', { key: secret, body: { openai: [text] } }],
    [`GET /v1/epochs/${encodeURIComponent(text)}`, {}],
  ]
}

/** Where a session's own secrets belong. */
function sessionPlaces(text: string, key: string): [string, CallOptions][] {
  const id = `ses_${'0'.repeat(22)}`
  const body = {
    agent_id: `agt_${'0'.repeat(22)}`,
    room: { room: 'somewhere', mk: `${text}0`.padEnd(22, '0').slice(0, 256) },
    coupon: text.slice(0, 100),
  }
  return [
    ['POST /v1/sessions', { key, body }],
    ['POST /v1/sessions', { key, idempotencyKey: text, body }],
    ['POST /v1/sessions', { key, idempotencyKey: text, body: { ...body, room: { room: `${text} `, mk: text } } }],
    ['POST /v1/sessions', { key, idempotencyKey: text, body: { ...body, metadata: text } }],
    ['POST /sessions/summon', { body: { summon_key: `sk_${text}`.slice(0, 100) } }],
    ['POST /sessions/summon', { body: { summon_key: [text] } }],
    [`GET /sessions/${id}`, { headers: { authorization: `Bearer ${text}0` } }],
    [`GET /sessions/${encodeURIComponent(text)}`, { key }],
    [`POST /sessions/${id}/id-token`, { headers: { authorization: `Bearer ${text}` }, body: { spk: text } }],
  ]
}
