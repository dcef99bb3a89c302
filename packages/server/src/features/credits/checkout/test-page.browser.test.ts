import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { HOSTILE_TEXTS } from '@atrium/web/testing/hostile-values'
import {
  assertAccessible,
  openWatchedPage,
  skipWithoutChromium,
  startTestBrowser,
  startTestServer,
} from '@atrium/web/testing/start-test-browser'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

describe('the built-in payment page in Chromium', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
  let browser: Browser
  let shop: Awaited<ReturnType<typeof startTestServer>>
  let api: TestApi
  let tenant: TestTenant

  before(async () => {
    browser = await startTestBrowser()
    shop = await startTestServer((req, res) => {
      res.setHeader('content-type', 'text/html').end(`<!doctype html><title>Shop</title><h1>${req.method} at the shop</h1>`)
    })
    api = await startTestApi()
    tenant = await api.makeTenant()
  })

  after(async () => {
    await browser?.close()
    await api?.close()
    shop?.stop()
  })

  function openPage(options: BrowserContextOptions = {}): Promise<{ page: Page; problems: string[] }> {
    const mayAsk = ({ origin }: URL) => [shop.origin, api.origin].includes(origin)
    return openWatchedPage(browser, { mayAsk, expected: /404 \(Not Found\)/ }, options)
  }

  async function order(changes: object = {}): Promise<{ id: string; address: string }> {
    const back = { success_url: `${shop.origin}/thanks?a=b`, cancel_url: `${shop.origin}/basket` }
    const body = { purpose: 'license_key', credits: 1_200, ...back, ...changes }
    const made = await send(api, 'POST', '/checkout', { key: tenant.secretKey, body })
    assert.equal(made.status, 201, made.text)
    const { id, url } = made.body.data
    return { id, address: api.origin + new URL(url).pathname }
  }

  const statusOf = async (id: string) =>
    (await send(api, 'GET', `/checkout/${id}`, { key: tenant.secretKey })).body.data.status as string

  test('a buyer sees what is sold and that no money moves, pays, and is back at the shop', async () => {
    const { page, problems } = await openPage()
    const { id, address } = await order()
    await page.goto(address)
    assert.equal(await page.title(), 'Pay for 1,200 credits · Test mode · Atrium')
    const text = (await page.locator('main').innerText()).replaceAll(/\s+/g, ' ')
    assert.match(
      text,
      /^TEST MODE No money moves 1,200 credits A license key, which mints a wallet Price \$12\.00 Charged here Nothing/,
    )
    assert.ok(text.includes(`You return to ${new URL(shop.origin).host}`))
    assert.ok(await page.evaluate("parseFloat(getComputedStyle(document.querySelector('.mark strong')).fontSize) > 24"))
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.waitForURL(`${shop.origin}/thanks?a=b&checkout_id=${id}`)
    await page.getByRole('heading', { name: 'GET at the shop' }).waitFor()
    assert.equal(await statusOf(id), 'paid')
    await page.goBack()
    await page.getByRole('heading', { name: 'Paid' }).waitFor()
    await page.getByRole('link', { name: 'Continue' }).click()
    await page.waitForURL(`${shop.origin}/thanks?a=b&checkout_id=${id}`)
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('Cancel leads back, and the checkout stays open; without script too', async () => {
    const { page, problems } = await openPage({ javaScriptEnabled: false })
    const { id, address } = await order({ purpose: 'prefund' })
    await page.goto(address)
    await page.getByText('Credits for the issuer’s balance').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.waitForURL(`${shop.origin}/basket`)
    assert.equal(await statusOf(id), 'open')
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('with the keyboard alone: Pay comes first, and the focus can be seen', async () => {
    const { page } = await openPage()
    const { address } = await order()
    await page.goto(address)
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Pay')
    assert.equal(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'solid')
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Cancel')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname === '/thanks')
    await page.context().close()
  })

  /** One of each kind of page, in order: open, paid, expired, none. */
  async function everyPage(): Promise<string[]> {
    const [open, paid, expired] = [await order({ credits: 99_999_999 }), await order(), await order()]
    await fetch(paid.address, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ do: 'pay' }) })
    await api.ctx.db.pool.query('update checkouts set expires_at = now() where id = $1', [expired.id])
    return [open.address, paid.address, expired.address, `${api.baseUrl}/checkout/chk_4fRzK0vXcB1mQwErTy7uPa/pay`]
  }

  test('axe finds no violation, and it fits a small phone: open, paid, expired, none; light and dark', async () => {
    const pages = await everyPage()
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, problems } = await openPage({ colorScheme, viewport: { width: 320, height: 640 }, isMobile: true })
      for (const address of pages) {
        await page.goto(address)
        assert.match(await page.locator('.mark').innerText(), /TEST MODE\s+No money moves/)
        await assertAccessible(page, `${address} ${colorScheme}`)
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320)
      }
      assert.deepEqual(problems, [])
      await page.context().close()
    }
  })

  test('with text of twice the size on a phone, the number of credits stays on one line', async () => {
    for (const width of [320, 390]) {
      const { page } = await openPage({ viewport: { width, height: 844 } })
      for (const credits of [1_000_000, 99_999_999]) {
        await page.goto((await order({ credits })).address)
        await page.evaluate("document.documentElement.style.fontSize = '200%'")
        const lines = await page.evaluate(`(() => {
          const count = document.querySelector('.count')
          return Math.round(count.offsetHeight / parseFloat(getComputedStyle(count).lineHeight))
        })()`)
        assert.equal(lines, 1, `${credits} ${width}`)
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
      }
      await page.context().close()
    }
  })

  test('the name of a currency keeps its order where the page runs from right to left', async () => {
    const { page } = await openPage({ locale: 'ar-EG' })
    await page.goto((await order({ credits: 100 })).address)
    const price = page.locator('dd').first()
    assert.match(await price.innerText(), /1\.00.*US\$/)
    const isInOrder = await page.evaluate(`(() => {
      const text = document.querySelector('dd').firstChild
      const leftOf = (letter) => {
        const range = document.createRange()
        range.setStart(text, text.data.indexOf(letter))
        range.setEnd(text, text.data.indexOf(letter) + 1)
        return range.getBoundingClientRect().left
      }
      return leftOf('U') < leftOf('S') && leftOf('S') < leftOf('$')
    })()`)
    assert.equal(isInOrder, true)
    await page.context().close()
  })

  test('a page that is printed by night is dark on white', async () => {
    const { page } = await openPage({ colorScheme: 'dark' })
    for (const address of [(await order()).address, `${api.origin}/nothing`]) {
      await page.goto(address)
      await page.emulateMedia({ media: 'print' })
      const look = await page.evaluate(`[document.body, document.documentElement]
        .map((element) => getComputedStyle(element)).map(({ backgroundColor, color }) => backgroundColor + ' ' + color)`)
      assert.match(String(look), /rgb\(255, 255, 255\) rgb\((?:0, 0, 0|43, 36, 27)\)/, address)
      await page.emulateMedia({ media: 'screen' })
    }
    await page.context().close()
  })

  test('hostile return addresses run nothing and leave for nowhere', async () => {
    const { page, problems } = await openPage()
    let shown = 0
    // Longer ones, and NUL, are refused.
    const texts = HOSTILE_TEXTS.filter((hostile) => hostile.length < 500).map((hostile) =>
      hostile.toWellFormed().replaceAll('\0', ''),
    )
    for (const text of texts) {
      const { address } = await order({ success_url: `${shop.origin}/?${text}`, cancel_url: `${shop.origin}/#${text}` })
      shown++
      await page.goto(address)
      await page.getByRole('button', { name: 'Pay' }).waitFor()
      const form = { method: 'POST', redirect: 'manual', body: new URLSearchParams({ do: 'pay' }) } as const
      assert.equal(new URL((await fetch(address, form)).headers.get('location')!).origin, shop.origin)
      await page.goto(address)
      await page.getByRole('heading', { name: 'Paid' }).waitFor()
    }
    assert.ok(shown > 30, String(shown))
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('another site cannot frame it', async () => {
    const { page } = await openPage()
    const { address } = await order()
    await page.goto(shop.origin)
    await page.evaluate(
      `document.body.innerHTML = '<iframe></iframe>', document.querySelector('iframe').src = ${JSON.stringify(address)}`,
    )
    const frame = await (await page.waitForSelector('iframe')).contentFrame()
    const refused = () => frame!.waitForURL((url) => url.protocol === 'chrome-error:')
    // The wait itself fails if it begins before the navigation is refused.
    await refused().catch(refused)
    assert.equal(await frame!.locator('form').count(), 0)
    await page.context().close()
  })
})
