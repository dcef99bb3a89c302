import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pageLanguages, readPageText } from '@atrium/web/page-text/page-text'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '@atrium/web/testing/start-test-browser'
import type { Browser } from 'playwright-core'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

const unknown = '/collections/col_0000000000000000000000/render'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})
after(() => api.close())

async function makeWall(metadata: object, items: unknown[] = []): Promise<string> {
  const key = tenant.publishableKey
  const body = { item_access: 'open', wall: true, metadata }
  const { id } = (await send(api, 'POST', '/collections', { key, body })).body.data
  for (const content of items) await send(api, 'POST', `/collections/${id}/items`, { key, body: { type: 'note', content } })
  return id
}

async function order(credits: number): Promise<string> {
  const back = { success_url: 'https://shop.example/thanks', cancel_url: 'https://shop.example/' }
  const body = { purpose: 'license_key', credits, ...back }
  const { id } = (await send(api, 'POST', '/checkout', { key: tenant.secretKey, body })).body.data
  return `/checkout/${id}/pay`
}

/** One of each kind of page, with what it says in a language. */
async function everyPage(): Promise<{ path: string; says: (text: ReturnType<typeof readPageText>) => string }[]> {
  const [empty, full] = [await makeWall({}), await makeWall({ share_title: 'Lantern night' }, ['A light', { vegan: true }])]
  const [open, paid, expired] = [await order(99_999_999), await order(2), await order(1)]
  await fetch(api.baseUrl + paid, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ do: 'pay' }) })
  const idOf = (path: string) => path.split('/')[2]
  await api.ctx.db.pool.query('update checkouts set expires_at = now() where id = $1', [idOf(expired)])
  return [
    { path: `/collections/${empty}/render`, says: ({ share }) => share.gathering },
    { path: `/collections/${empty}/wall`, says: ({ wall }) => wall.empty },
    { path: `/collections/${full}/wall`, says: ({ wall }) => wall.yes },
    { path: `/collections/${full}/wall?layout=stage`, says: ({ share }) => share.sharedWith },
    { path: `/collections/${full}/wall?cursor=old`, says: ({ share }) => share.openPage },
    { path: unknown, says: ({ share }) => share.missing },
    { path: `/collections/${'x'.repeat(300)}/wall`, says: ({ share }) => share.missing },
    { path: open, says: ({ checkout }) => checkout.licenseKey },
    { path: paid, says: ({ checkout }) => checkout.goOn },
    { path: expired, says: ({ checkout }) => checkout.expired },
    { path: '/checkout/chk_4fRzK0vXcB1mQwErTy7uPa/pay', says: ({ checkout }) => checkout.missingHeading },
  ]
}

test('pages are in the language that the browser prefers, and say to caches that they depend on it', async () => {
  const pages = await everyPage()
  for (const language of pageLanguages) {
    const text = readPageText(language)
    for (const { path, says } of pages) {
      const headers = { accept: 'text/html', 'accept-language': `pt-BR, ${language}-x-any;q=0.9, en;q=0.5` }
      const res = await fetch(api.baseUrl + path, { headers })
      const html = await res.text()
      assert.match(html, new RegExp(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`), path)
      assert.ok(html.includes(says(text)), `${path} ${language}`)
      assert.equal(res.headers.get('content-language'), language, path)
      assert.match(res.headers.get('vary') ?? '', /\bAccept-Language\b/, path)
    }
  }
  const plain = await (await fetch(api.baseUrl + unknown, { headers: { 'accept-language': 'xx' } })).text()
  assert.match(plain, /<html lang="en" dir="ltr">/)
})

test('each language has its own ETag, and a page that a cache has in one is not a 304 in another', async () => {
  const id = await makeWall({ share_title: 'Lantern night' })
  for (const page of ['render', 'wall']) {
    const get = (language: string, known = '') =>
      fetch(`${api.baseUrl}/collections/${id}/${page}`, { headers: { 'accept-language': language, 'if-none-match': known } })
    const [german, french] = [await get('de'), await get('fr')]
    const [known, other] = [german.headers.get('etag')!, french.headers.get('etag')!]
    assert.notEqual(known, other)
    assert.equal((await get('de-CH', known)).status, 304)
    assert.equal((await get('fr', known)).status, 200)
  }
})

test('a title from right to left turns the page, and the page’s own words keep their direction', async () => {
  const id = await makeWall({ share_title: 'ערב אחרון' })
  const html = await (await fetch(`${api.baseUrl}/collections/${id}/wall`, { headers: { 'accept-language': 'de' } })).text()
  assert.match(html, /<html lang="de" dir="rtl">/)
  assert.match(html, /<div class="side" dir="ltr">/)
})

describe('in Chromium', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await startTestBrowser()
  })
  after(() => browser?.close())

  test('long words fit a phone in every language, axe finds nothing, and the wall goes on in the language', async () => {
    const pages = await everyPage()
    for (const locale of ['ar-EG', 'de-AT', 'en-GB', 'es-MX', 'fr-CA', 'ja-JP']) {
      const context = await browser.newContext({ locale, viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
      const page = await context.newPage()
      const text = readPageText(locale)
      for (const { path } of pages) {
        await page.goto(api.baseUrl + path)
        assert.deepEqual(await page.evaluate(findCut), [], `${path} ${locale}`)
        // The others differ from English in their words alone.
        if (locale !== 'ar-EG' || path.endsWith('/wall')) continue
        await assertAccessible(page, `${path} ${locale}`)
      }
      const id = await makeWall({ share_title: 'Lantern night' })
      await page.goto(`${api.baseUrl}/collections/${id}/wall`)
      await page.getByText(text.wall.live, { exact: true }).waitFor()
      await page.getByRole('button', { name: text.wall.pause }).click()
      const body = { type: 'note', content: { vegan: true } }
      await send(api, 'POST', `/collections/${id}/items`, { key: tenant.publishableKey, body })
      await page.locator('#fresh').waitFor()
      assert.match(await page.locator('#fresh').innerText(), new RegExp(text.wall.fresh.one?.replace('#', '1') ?? '件'))
      await page.getByRole('button', { name: text.wall.resume }).click()
      await page.locator('dd', { hasText: text.wall.yes }).waitFor()
      await context.close()
    }
  })
})

/** What is wider than its place. */
const findCut = `[...document.querySelectorAll('html, main, h1, p, button, a, dt, dd, label, figcaption')]
  .filter((element) => element.checkVisibility() && !element.matches('.heard'))
  .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1)
  .map(({ outerHTML, scrollWidth, clientWidth }) => scrollWidth + ' > ' + clientWidth + ': ' + outerHTML.slice(0, 160))`
