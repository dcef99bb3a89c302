import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { verifyIdToken } from '@atrium/identity/id-token'
import { ProviderKeys } from '@atrium/identity/provider-keys'
import { startLoginPage, type BrowserLogin, type LoginPage } from '@atrium/identity/testing/login-page'
import { HOSTILE_TEXTS } from '@atrium/web/testing/hostile-values'
import { readPageText } from '@atrium/web/page-text/page-text'
import { assertAccessible, openWatchedPage, skipWithoutChromium, startTestBrowser } from '@atrium/web/testing/start-test-browser'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { startDevelopmentIdentity, type TestDevelopmentIdentity } from '#testing/start-development-identity.ts'

describe('the development sign-in in Chromium', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
  let browser: Browser
  let app: LoginPage
  let provider: TestDevelopmentIdentity

  before(async () => {
    browser = await startTestBrowser()
    app = await startLoginPage()
    provider = await startDevelopmentIdentity({ redirectOrigins: [app.origin] })
  })

  after(async () => {
    await browser?.close()
    await provider?.close()
    app?.close()
  })

  function openPage(options: BrowserContextOptions = {}): Promise<{ page: Page; problems: string[] }> {
    const mayAsk = ({ origin, protocol }: URL) =>
      protocol === 'data:' || [app.origin, new URL(provider.issuer).origin].includes(origin)
    return openWatchedPage(browser, { mayAsk, expected: /400 \(Bad Request\)/ }, options)
  }

  async function begin(page: Page, changes: Record<string, string> = {}): Promise<void> {
    await page.goto(app.origin)
    await page.goto(await page.evaluate<string>(`begin(...${JSON.stringify([provider.issuer, provider.clientId, changes])})`))
  }

  const atApp = (url: URL) => url.origin === app.origin && url.pathname === '/space'

  async function emailIn({ idToken }: BrowserLogin): Promise<string> {
    const { issuer, clientId: audience } = provider
    const keys = new ProviderKeys({ issuer, fetchJson: async (url) => (await fetch(url)).json() })
    const verdict = await verifyIdToken(idToken, { keys, issuer, audience, nowMs: Date.now() })
    assert.ok(verdict.ok)
    return verdict.claims.email
  }

  test('a person types an address and is back with a token, breaking no policy on the way', async () => {
    for (const email of ['ann@example.com', 'zoë@bücher.example']) {
      const { page, problems } = await openPage()
      await begin(page)
      await page.getByLabel('E-mail address').fill(email)
      await page.getByLabel('Name (optional)').fill('Ann')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.waitForURL(atApp)
      assert.equal(await emailIn(await page.evaluate<BrowserLogin>('finish()')), email)
      assert.deepEqual(problems, [])
      await page.context().close()
    }
  })

  test('with the keyboard alone: the address has the focus, Enter signs in', async () => {
    const { page } = await openPage()
    await begin(page)
    await page.locator('#email:focus').waitFor()
    await page.keyboard.type('not an address')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await page.locator('#email:focus').waitFor()
    assert.equal(await page.getByLabel('E-mail address').inputValue(), 'not an address')
    await page.getByLabel('E-mail address').selectText()
    await page.keyboard.type('bob@example.com')
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'solid')
    await page.keyboard.type('Bob')
    await page.keyboard.press('Enter')
    await page.waitForURL(atApp)
    assert.equal(await emailIn(await page.evaluate<BrowserLogin>('finish()')), 'bob@example.com')
    await page.context().close()
  })

  test('Cancel goes back without a token, and the app is told', async () => {
    const { page } = await openPage()
    await begin(page)
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.waitForURL(atApp)
    await assert.rejects(page.evaluate('finish()'), /access_denied/)
    await page.context().close()
  })

  test('it says in plain words what it is', async () => {
    const { page } = await openPage()
    await begin(page)
    assert.equal(await page.title(), 'Development sign-in · Atrium')
    const text = (await page.locator('main').innerText()).replaceAll(/\s+/g, ' ')
    assert.match(text, /Nothing is checked here\. This page accepts every address/)
    assert.match(text, new RegExp(`You return to ${app.origin}`))
    await page.context().close()
  })

  test('axe finds no violation: the form, a rejected address, a problem; light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await openPage({ colorScheme })
      const check = async (what: string) => {
        await assertAccessible(page, `${what} ${colorScheme}`)
      }
      await begin(page)
      await check('form')
      await page.getByLabel('E-mail address').fill('x')
      await page.getByRole('button').click()
      await page.getByRole('alert').waitFor()
      await check('rejected')
      await page.goto(`${provider.issuer}/authorize`)
      await check('problem')
      await page.context().close()
    }
  })

  for (const locale of ['ar-EG', 'de-AT', 'en-GB', 'es-MX', 'fr-CA', 'ja-JP']) {
    test(`it is in the language of the browser, and fits a small phone: ${locale}`, async () => {
      const { signIn, language, direction } = readPageText(locale)
      const { page } = await openPage({ viewport: { width: 320, height: 640 }, isMobile: true, locale })
      const look = async (heading: string) => {
        await page.getByRole('heading', { name: heading }).waitFor()
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320)
        const root = await page.evaluate('[document.documentElement.lang, document.documentElement.dir]')
        assert.deepEqual(root, [language, direction])
      }
      await begin(page, { login_hint: 'x'.repeat(300) })
      await look(signIn.title)
      await page.getByRole('button', { name: signIn.signIn }).click()
      await page.getByRole('alert').getByText(signIn.notAddress).waitFor()
      await page.goto(`${provider.issuer}/authorize?client_id=${'x'.repeat(300)}`)
      await look(signIn.problem)
      const { headers } = await fetch(provider.issuer, { headers: { 'accept-language': locale } })
      assert.deepEqual([headers.get('vary'), headers.get('content-language')], ['Origin, Accept-Language', language])
      await page.goto(provider.issuer)
      await look(signIn.title)
      await page.context().close()
    })
  }

  test('hostile text in the request or the form runs nothing and leaves for nowhere', async () => {
    const { page, problems } = await openPage()
    // An address holds no more: the server refuses longer ones before the page sees them.
    const texts = HOSTILE_TEXTS.filter((text) => text.length <= 2_000).map((text) => text.toWellFormed())
    assert.ok(texts.length > 40)
    const asked = {
      response_type: 'code',
      client_id: provider.clientId,
      redirect_uri: app.redirectUri,
      scope: 'openid',
      nonce: 'n',
    }
    const challenged = { ...asked, code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' }
    for (const text of texts) {
      const params = new URLSearchParams({ ...challenged, login_hint: text, state: text })
      await page.goto(`${provider.issuer}/authorize?${params.toString()}`)
      // HTML knows no NUL, and a field of one line no newline.
      const shown = text.replaceAll('\0', '\ufffd').replaceAll(/[\r\n]/g, '')
      assert.equal(await page.getByLabel('E-mail address').inputValue(), shown)
      await page.getByLabel('E-mail address').fill(`${text.slice(0, 200)} not an address`)
      await page.getByLabel('Name (optional)').fill(text)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').waitFor()
      await page.goto(`${provider.issuer}/authorize?${new URLSearchParams({ client_id: text }).toString()}`)
      await page.getByRole('heading', { name: 'This sign-in cannot go on' }).waitFor()
    }
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('another site cannot frame it', async () => {
    const { page } = await openPage()
    await begin(page)
    const address = page.url()
    await page.goto(app.origin)
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
