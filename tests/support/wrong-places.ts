import type { CallOptions } from './call-api.ts'

/** What a request needs to get as far as the wrong place. */
export interface Surroundings {
  /** A publishable key. */
  key: string
  /** A secret key. */
  secret: string
  collection: string
  /** The collection's owner token. */
  token: string
}

/** Requests that carry the text where it does not belong; each must be refused. */
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
    [
      'POST /v1/tenant/keys',
      { key: secret, body: { kind: 'secret' }, headers: { 'content-type': `text/plain; key=${encoded}` } },
    ],
  ]
}
