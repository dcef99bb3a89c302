import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})
after(() => api.close())

const order = {
  purpose: 'license_key',
  credits: 100,
  success_url: 'https://shop.example/thanks',
  cancel_url: 'https://shop.example/',
}
const create = (body: object = {}) => send(api, 'POST', '/checkout', { key: tenant.secretKey, body: { ...order, ...body } })
const look = (id: string) => send(api, 'GET', `/checkout/${id}`, { key: tenant.secretKey })
const page = (id: string) => fetch(`${api.baseUrl}/checkout/${id}/pay`)
const press = (id: string, wish = 'pay') =>
  fetch(`${api.baseUrl}/checkout/${id}/pay`, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ do: wish }) })
const expire = (id: string) =>
  api.ctx.db.pool.query(`update checkouts set expires_at = now() - interval '1 second' where id = $1`, [id])

test('Cancel goes back and leaves the checkout open', async () => {
  const { id } = (await create({ cancel_url: 'https://shop.example/basket?of=ann#end' })).body.data
  const answer = await press(id, 'cancel')
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.get('location'), 'https://shop.example/basket?of=ann#end')
  assert.equal((await look(id)).body.data.status, 'open')
})

test('the id joins whatever the return address holds already', async () => {
  for (const [address, location] of [
    ['https://shop.example', 'https://shop.example/?checkout_id='],
    ['https://shop.example/a?b=%20c&d={E}', 'https://shop.example/a?b=%20c&d={E}&checkout_id='],
    ['http://[::1]:3000/a?#b', 'http://[::1]:3000/a?checkout_id=#b'],
  ] as const) {
    const { id } = (await create({ success_url: address })).body.data
    assert.equal((await press(id)).headers.get('location'), location.replace('checkout_id=', `checkout_id=${id}`))
  }
})

test('once expired it says so and takes no payment; the status says expired', async () => {
  const { id } = (await create()).body.data
  await expire(id)
  const { status, url } = (await look(id)).body.data
  assert.deepEqual([status, url], ['expired', null])
  assert.match(await (await page(id)).text(), /This checkout has expired/)
  assert.equal((await press(id)).status, 409)
  assert.equal((await look(id)).body.data.status, 'expired')
})

test('once paid it says so', async () => {
  const { id } = (await create()).body.data
  await press(id)
  const text = await (await page(id)).text()
  assert.match(text, /<h1>Paid<\/h1>/)
  assert.equal(text.includes('<form'), false)
})

test('a form that says neither changes nothing', async () => {
  const { id } = (await create()).body.data
  assert.equal((await press(id, 'whatever')).status, 400)
  const url = `${api.baseUrl}/checkout/${id}/pay`
  assert.equal((await fetch(url, { method: 'POST', body: '{"do":"pay"}' })).status, 400)
  assert.equal((await fetch(url, { method: 'POST', body: new URLSearchParams({ do: 'x'.repeat(2_000) }) })).status, 413)
  assert.equal((await look(id)).body.data.status, 'open')
})

test('an id that is nobody’s is a page that says 404', async () => {
  for (const id of ['chk_4fRzK0vXcB1mQwErTy7uPa', 'chk_x', 'x']) {
    for (const answer of [await page(id), await press(id)]) {
      assert.equal(answer.status, 404)
      assert.match(answer.headers.get('content-type')!, /text\/html/)
      assert.match(await answer.text(), /There is no checkout here/)
    }
  }
})

test('its policy allows its own style and its own form, and names where the form may lead', async () => {
  const { id } = (await create({ success_url: 'http://[::1]:3000/', cancel_url: 'http://localhost:5000/x' })).body.data
  const answer = await page(id)
  assert.match(
    answer.headers.get('content-security-policy')!,
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; form-action 'self' http: http:\/\/localhost:5000$/,
  )
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
})

test('the price of a credit bounds a payment', async () => {
  const dear = await startTestApi({ creditPriceCents: '250', currency: 'JPY' })
  try {
    const made = await dear.makeTenant()
    const buy = (credits: number) => send(dear, 'POST', '/checkout', { key: made.secretKey, body: { ...order, credits } })
    assert.equal((await buy(400_000)).body.error.code, 'invalid_request')
    const { id } = (await buy(4)).body.data
    assert.match(await (await fetch(`${dear.baseUrl}/checkout/${id}/pay`)).text(), /¥1,000/)
  } finally {
    await dear.close()
  }
})

test('in production nothing is sold without Stripe, and there is no test page', async () => {
  const production = await startTestApi({ nodeEnv: 'production' })
  try {
    const made = await production.makeTenant()
    const answer = await send(production, 'POST', '/checkout', { key: made.secretKey, body: order })
    assert.equal(answer.status, 503)
    assert.equal(answer.body.error.code, 'unavailable')
    assert.match(answer.body.error.message, /STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET/)
    assert.ok(answer.headers.get('retry-after'))
    // A row as a development start over the same database would have left it.
    const id = 'chk_4fRzK0vXcB1mQwErTy7uPa'
    await production.ctx.db.pool.query(
      `insert into checkouts (tenant_id, id, purpose, credits, provider, reference, url, success_url, cancel_url, expires_at)
       values ($1, $2, 'prefund', 5, 'test', $2, 'http://x/', 'http://x/', 'http://x/', now() + interval '1 hour')`,
      [made.id, id],
    )
    for (const method of ['GET', 'POST']) {
      const refused = await send(production, method, `/checkout/${id}/pay`)
      assert.equal(refused.body.error.code, 'not_found')
    }
  } finally {
    await production.close()
  }
})
