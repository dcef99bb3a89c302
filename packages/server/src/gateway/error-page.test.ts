import assert from 'node:assert/strict'
import { after, before, mock, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const reader = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-language': 'de' }

async function get(path: string, headers: Record<string, string> = {}, origin = api.origin) {
  const res = await fetch(origin + path, { headers })
  return { res, status: res.status, type: res.headers.get('content-type'), text: await res.text() }
}

function assertPage({ res, type, text }: Awaited<ReturnType<typeof get>>, says: RegExp): void {
  assert.equal(type, 'text/html; charset=utf-8', text)
  assert.match(text, says)
  assert.match(text, /<html lang="de" dir="ltr">/)
  assert.equal(res.headers.get('cache-control'), 'no-store')
  assert.match(res.headers.get('content-security-policy')!, /default-src 'none'/)
}

test('an unknown address is a page for a browser, which says what was meant; for a program it is JSON', async () => {
  for (const path of ['/nothing', '/v1/nothing', '/%E0', '/console/assets/nothing.js', `/docs/${'x'.repeat(300)}`]) {
    const page = await get(path, reader)
    const program = await get(path)
    assert.equal(page.status, program.status, path)
    if (path.startsWith('/docs')) assert.equal(page.type, 'text/html; charset=utf-8')
    else assertPage(page, /<h1>Unter dieser Adresse gibt es nichts<\/h1>/)
    assert.match(program.type!, /^application\/json/, path)
  }
  const near = await get('/v1/collection/<b>', reader)
  assertPage(near, /<p><span lang="en" dir="ltr">There is nothing at \/v1\/collection\/\S+ Did you mean \/v1\/collections\//)
  assert.doesNotMatch(near.text, /<b>/)
})

test('an operation other than a share page answers JSON, whatever the caller accepts', async () => {
  for (const path of ['/v1/collections', '/v1/collections/none/items', '/v1/oembed', '/healthz']) {
    const answer = await get(path, reader)
    assert.match(answer.type!, /^application\/json/, path)
  }
})

test('too many requests are a page for a browser on every page of this server', async () => {
  const slow = await startTestApi({ rateLimit: '0.1' })
  try {
    const { secretKey: key } = await slow.makeTenant()
    const back = { success_url: 'https://shop.example/thanks', cancel_url: 'https://shop.example/' }
    const order = await send(slow, 'POST', '/checkout', { key, body: { purpose: 'license_key', credits: 2, ...back } })
    const pay = `/v1/checkout/${order.body.data.id}/pay`
    for (const path of [pay, '/status', '/docs', '/console']) {
      let busy = await get(path, reader, slow.origin)
      for (let i = 0; i < 40 && busy.status !== 429; i++) busy = await get(path, reader, slow.origin)
      assert.equal(busy.status, 429, path)
      assertPage(busy, /<h1>Diese Seite kann gerade nicht gezeigt werden<\/h1>.*<a href="">Noch einmal versuchen<\/a>/s)
      assert.match(busy.res.headers.get('retry-after')!, /^\d+$/)
      const program = await get(path, {}, slow.origin)
      assert.match(program.text, /"code":"rate_limited"/, path)
    }
  } finally {
    await slow.close()
  }
})

test('a failure is a page for a browser, also where a form was sent', async (t) => {
  t.after(() => mock.restoreAll())
  mock.method(api.ctx.log, 'error', () => undefined)
  mock.method(api.ctx.db, 'query', () => Promise.reject(new Error('canary')))
  const pay = '/v1/checkout/chk_4fRzK0vXcB1mQwErTy7uPa/pay'
  const says = /<h1>Diese Seite kann gerade nicht gezeigt werden<\/h1>/
  const page = await get(pay, reader)
  assert.equal(page.status, 500)
  assertPage(page, says)
  assert.doesNotMatch(page.text, /canary/)
  const form = { method: 'POST', headers: reader, body: new URLSearchParams({ do: 'pay' }) }
  const sent = await fetch(api.origin + pay, form)
  assert.match(await sent.text(), says)
  assert.match((await get(pay)).text, /"code":"internal_error"/)
})
