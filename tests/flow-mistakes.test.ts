import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertTeaches, type Mistake } from './support/assert-teaches.ts'
import { askGood, call } from './support/call-api.ts'
import { openShelfWorld, type ShelfWorld } from './support/shelf-world.ts'
import { announce, dot, sendFile, type UploadPlace } from './support/upload-file.ts'

/* Mistakes in the order of calls: each answer must say what is wrong and what to do. See mistakes.test.ts. */

let world: ShelfWorld
let key: string
let place: UploadPlace
before(async () => {
  world = await openShelfWorld()
  key = world.tenant.secret
  const { origin, shelf } = world
  place = { origin, key, collection: shelf.things.collection ?? '', token: shelf.owner }
})
after(() => world.close())

const assertAll = async (mistakes: Mistake[]) => {
  for (const mistake of mistakes) await assertTeaches(world, mistake)
}
const ready = (id: string) => `POST /v1/collections/${place.collection}/artifacts/${id}/ready`
/** The path of a signed address, which names another origin where the server stands behind a proxy. */
const pathOf = (url: string) => new URL(url).pathname + new URL(url).search

test('uploads', async () => {
  const owner = { key, token: place.token }
  const mime = 'image/png'
  const { id, upload } = await announce(place, { kind: 'image', mime, bytes: dot.length })
  const put = (headers: Record<string, string>, body: string) => ({
    route: `PUT ${pathOf(upload.url)}`,
    options: { headers, body },
  })
  const other = await askGood(world.origin, 'POST /v1/collections', { key, body: {} })
  await assertAll([
    {
      what: 'an upload that is confirmed before it is there',
      route: ready(id),
      options: owner,
      expect: '409 upload_mismatch',
      says: [/no bytes|not (?:been )?(?:uploaded|arrived)|nothing/i],
    },
    {
      what: 'fewer bytes than announced',
      ...put({ 'content-type': mime, 'content-length': '3' }, 'abc'),
      expect: '400 invalid_request',
      says: [new RegExp(`Content-Length must be ${dot.length}`)],
    },
    {
      what: 'more bytes than announced',
      ...put({ 'content-type': mime, 'content-length': String(dot.length + 1) }, 'x'.repeat(dot.length + 1)),
      expect: '413 payload_too_large',
      says: [new RegExp(`takes ${dot.length} bytes`)],
    },
    {
      what: 'another type than announced',
      ...put({ 'content-type': 'image/jpeg', 'content-length': String(dot.length) }, 'x'.repeat(dot.length)),
      expect: '400 invalid_request',
      says: [/Content-Type must be image\/png/],
    },
    {
      what: 'an address of an upload that was changed',
      route: `PUT ${pathOf(upload.url).replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))}`,
      options: { headers: { 'content-type': mime }, body: 'x' },
      expect: '403 not_authorized',
      says: [/not signed here|expired|over/],
    },
    {
      what: 'an upload that is confirmed in another collection',
      route: `POST /v1/collections/${other.data.id}/artifacts/${id}/ready`,
      options: { key, token: other.data.admin_token },
      expect: '404 not_found',
      says: [/Check the id/],
    },
    {
      what: 'an upload of a type that is not taken',
      route: `POST /v1/collections/${place.collection}/artifacts/upload`,
      options: { ...owner, body: { kind: 'image', mime: 'image/bmp', bytes: 10 } },
      expect: '400 invalid_request',
      says: [/mime/, /image\/png/],
    },
  ])
  const sent = await sendFile(place, mime, dot, 'image')
  assert.equal((await call(world.origin, ready(sent.id), owner)).status, 200)
  assert.equal((await call(world.origin, ready(sent.id), owner)).status, 200, 'confirming twice is no mistake')
})

test('cursors', async () => {
  const { origin } = world
  const owner = { key, token: place.token }
  for (const content of ['one', 'two'])
    await askGood(origin, `POST /v1/collections/${place.collection}/items`, { ...owner, body: { type: 'message', content } })
  const { text } = await call(origin, `GET /v1/collections/${place.collection}/items?limit=1`, owner)
  const cursor = (JSON.parse(text) as { meta: { next_cursor: string } }).meta.next_cursor
  const refused = { expect: '400 invalid_cursor', says: [/cursor/, /does not belong to this/] }
  await assertAll([
    {
      what: 'a cursor of another list',
      route: `GET /v1/collections/${place.collection}/artifacts?cursor=${cursor}`,
      options: owner,
      ...refused,
    },
    {
      what: 'a cursor of the same list with other filters',
      route: `GET /v1/collections/${place.collection}/items?cursor=${cursor}&type=message`,
      options: owner,
      ...refused,
    },
    {
      what: 'a cursor that was cut short',
      route: `GET /v1/collections/${place.collection}/items?cursor=${cursor.slice(0, -3)}`,
      options: owner,
      ...refused,
    },
    ...['?cursor=', ''].map((query) => ({
      what: `a cursor of a list where a stream goes on (${query === '' ? 'Last-Event-ID' : 'query'})`,
      route: `GET /v1/collections/${place.collection}/stream${query === '' ? '' : query + cursor}`,
      options: { ...owner, ...(query === '' ? { headers: { 'last-event-id': cursor } } : {}) },
      expect: '400 invalid_cursor',
      says: [/stream/],
    })),
  ])
})

test('credits', async () => {
  const { origin } = world
  const license = async (owner: string) => {
    const body = { purpose: 'license_key', credits: 10, success_url: 'https://a.example', cancel_url: 'https://a.example' }
    const { id } = (await askGood(origin, 'POST /v1/checkout', { key: owner, body })).data
    const form = { method: 'POST', body: new URLSearchParams({ do: 'pay' }), redirect: 'manual' } as const
    await fetch(`${origin}/v1/checkout/${id}/pay`, form)
    return (await askGood(origin, `GET /v1/checkout/${id}`, { key: owner })).data.license_key
  }
  const redeem = { route: 'POST /v1/wallets/redeem', options: { key, body: { license_key: await license(key) } } }
  const wallet = (await askGood(origin, redeem.route, redeem.options)).data.wallet_code
  const grant = (owner: string, amount: number, code = wallet) => ({
    route: 'POST /v1/wallets/grant',
    options: { key: owner, idempotencyKey: `grant-${amount}`, body: { amount, wallet_code: code } },
  })
  await assertAll([
    { what: 'a license key that was redeemed', ...redeem, expect: '409 already_spent', says: [/redeemed|spent|used/] },
    {
      what: 'more than is in the wallet',
      ...grant(key, 1_000),
      expect: '402 insufficient_credit',
      says: [/credit|balance/i],
    },
    {
      what: 'a wallet code with one character changed',
      ...grant(
        key,
        5,
        wallet.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
      ),
      expect: '404 not_found',
      says: [/mistyped, unknown, expired or spent/],
    },
  ])
})

test('a preflight with a header that nobody knows lets the request through, and it is the request that is judged', async () => {
  const preflight = (path: string, header: string) =>
    fetch(world.origin + path, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': header,
      },
    })
  const allowed = async (path: string, header: string) =>
    (await preflight(path, header)).headers.get('access-control-allow-headers')?.toLowerCase().split(', ') ?? []
  assert.ok((await allowed('/v1/collections', 'x-my-tracing, authorization')).includes('x-my-tracing'))
  assert.ok((await allowed('/v1/colections', 'authorization')).includes('authorization'), 'a misspelt path: the 404 says so')
  assert.ok(!(await allowed('/v1/tenants', 'x-admin-token')).includes('x-admin-token'), 'the operator is no web page')
  await assertTeaches(world, {
    what: 'the request after it, with a secret key',
    route: 'POST /v1/collections',
    options: { key, headers: { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' }, body: {} },
    expect: '401 secret_key_in_browser',
    says: [/publishable/],
  })
})
