import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { startLoginPage, type BrowserLogin, type LoginPage } from '../packages/identity/src/testing/login-page.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { call, makeCollection, makeTenant } from './support/call-api.ts'
import { startOidcProvider, type OidcProvider } from './support/oidc-provider.ts'

interface Seen {
  status: number
  content: unknown
  reason: string | undefined
}

describe('signing in with a real provider, in Chromium', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let browser: Browser
  let app: LoginPage
  let provider: OidcProvider
  let database: TestDatabase
  let atrium: AtriumProcess
  /** The address and key of an item that ada@example.com may read, and eve@example.com no longer may. */
  let item: { url: string; key: string }

  before(async () => {
    browser = await startTestBrowser()
    app = await startLoginPage()
    provider = await startOidcProvider({
      redirectUris: [app.redirectUri],
      isVerified: (email) => !email.startsWith('unverified'),
    })
    database = await createTestDatabase()
    const env = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: provider.clientId }
    atrium = await startAtrium({ databaseUrl: database.url, env })
    item = await makeItem()
  })

  after(async () => {
    await browser?.close()
    await atrium?.end()
    await database?.drop()
    await provider?.close()
    app?.close()
  })

  async function makeItem(): Promise<{ url: string; key: string }> {
    const { publishable: key } = await makeTenant(atrium.origin)
    const { id, token } = await makeCollection(atrium.origin, key)
    const added = await call(atrium.origin, `POST /v1/collections/${id}/items`, {
      key,
      body: { type: 'note', content: 'for Ada' },
    })
    const path = `/v1/collections/${id}/items/${added.data.id}`
    const grant = ['Ada@Example.com', 'eve@example.com', 'unverified@example.com']
    for (const body of [{ access: 'email', grant }, { revoke: ['eve@example.com'] }])
      assert.equal((await call(atrium.origin, `PATCH ${path}`, { key, token, body })).status, 200)
    return { url: atrium.origin + path, key }
  }

  /** Signs in as a person in a separate browser window. Returns the token. */
  async function signIn(email: string, name = ''): Promise<{ page: Page; login: BrowserLogin }> {
    const page = await (await browser.newContext()).newPage()
    await page.goto(app.origin)
    return { page, login: await signInAgain(page, email, name) }
  }

  async function signInAgain(page: Page, email: string, name = '', changes: object = {}): Promise<BrowserLogin> {
    await page.goto(await page.evaluate<string>(`begin(...${JSON.stringify([provider.issuer, provider.clientId, changes])})`))
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Name').fill(name)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL((url) => url.origin === app.origin)
    return page.evaluate<BrowserLogin>('finish()')
  }

  /** Reads the item from the page, as an app would. */
  function read(page: Page, { idToken, spk }: Partial<BrowserLogin>): Promise<Seen> {
    const headers = {
      authorization: `Bearer ${item.key}`,
      ...(idToken === undefined ? {} : { 'x-id-token': idToken }),
      ...(spk === undefined ? {} : { 'x-spk': spk }),
    }
    return page.evaluate<Seen>(
      `fetch(${JSON.stringify(item.url)}, { headers: ${JSON.stringify(headers)} }).then(async (res) => {
        const { data, error } = await res.json()
        return { status: res.status, content: data?.content, reason: error?.reason }
      })`,
    )
  }

  const opened: Seen = { status: 200, content: 'for Ada', reason: undefined }
  const refused = (reason: string): Seen => ({ status: 403, content: undefined, reason })

  test('an account on the list can read the item from the device that signed in', async () => {
    const { page, login } = await signIn('ada@example.com', 'Ada')
    assert.deepEqual(await read(page, login), opened)
    const claims = JSON.parse(Buffer.from(login.idToken.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>
    assert.deepEqual([claims['email'], claims['email_verified'], claims['name']], ['ada@example.com', true, 'Ada'])
    assert.deepEqual([claims['iss'], claims['aud']], [provider.issuer, provider.clientId])
  })

  test('the token is rejected with another device key and without one', async () => {
    const { login: ada } = await signIn('ada@example.com')
    const { page, login: eve } = await signIn('eve@example.com')
    assert.deepEqual(await read(page, { ...ada, spk: eve.spk }), refused('nonce_mismatch'))
    assert.deepEqual(await read(page, { idToken: ada.idToken }), refused('unsigned'))
    assert.deepEqual(await read(page, { spk: ada.spk }), refused('unsigned'))
    assert.deepEqual(await read(page, {}), refused('unsigned'))
  })

  test('an account that was removed from the list, was never on it, or has an unverified address gets that reason', async () => {
    const reasons = {
      'eve@example.com': 'revoked',
      'bob@example.com': 'not_on_list',
      'unverified@example.com': 'token: unverified_email',
    }
    for (const [email, reason] of Object.entries(reasons)) {
      const { page, login } = await signIn(email)
      assert.deepEqual(await read(page, login), refused(reason))
    }
  })

  test('capitals are the same address', async () => {
    const { page, login } = await signIn('ADA@example.COM')
    assert.deepEqual(await read(page, login), opened)
  })

  test('signing in again makes another device key, and each key works only with its own token', async () => {
    const { page, login: first } = await signIn('ada@example.com')
    const second = await signInAgain(page, 'ada@example.com', '', { prompt: 'login' })
    assert.notEqual(first.spk, second.spk)
    for (const login of [first, second]) assert.deepEqual(await read(page, login), opened)
    assert.deepEqual(await read(page, { ...first, spk: second.spk }), refused('nonce_mismatch'))
  })

  test('a login without the e-mail scope gets no address and is rejected', async () => {
    const page = await (await browser.newContext()).newPage()
    await page.goto(app.origin)
    const login = await signInAgain(page, 'ada@example.com', '', { scope: 'openid' })
    assert.deepEqual(await read(page, login), refused('token: unverified_email'))
  })
})
