import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { ensureConsole } from '@atrium/web/build/ensure-console'
import { HOSTILE_TEXTS } from '@atrium/web/testing/hostile-values'
import { assertAccessible, openWatchedPage, skipWithoutChromium, startTestBrowser } from '@atrium/web/testing/start-test-browser'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { consoleLink } from '#testing/console.ts'
import { send } from '#testing/http.ts'
import { ReportSigner, sendReport, startReportKeyServer, type ReportKeyServer } from '#testing/report-signer.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

const pages = [
  '',
  '/collections',
  '/agents',
  '/agent-sessions',
  '/credits',
  '/credits/checkouts',
  '/credits/epochs',
  '/usage',
  '/keys',
  '/webhooks',
  '/webhooks/default',
  '/events',
  '/logs',
  '/settings',
  '/settings/members',
  '/settings/sessions',
  '/settings/audit-log',
]
/** The pages that have each kind of part between them. */
const inDark = new Set(['', '/keys', '/settings'])
const signer = new ReportSigner()
const phone = { viewport: { width: 390, height: 844 } }

describe('the console in Chromium', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let browser: Browser
  let api: TestApi
  let keyServer: ReportKeyServer
  let tenant: TestTenant
  /** The cookies of a signed-in owner. */
  let signedIn: Awaited<ReturnType<ReturnType<Page['context']>['storageState']>>
  const collection = { id: '', token: '' }

  const watch = (options: BrowserContextOptions = {}) =>
    openWatchedPage(
      browser,
      // 401: before the sign-in. 404: a tenant without a webhook.
      { mayAsk: (url) => url.origin === api.origin || url.protocol === 'blob:', expected: /status of (?:401|404)/ },
      { reducedMotion: 'reduce', ...options },
    )
  const open = (options: BrowserContextOptions = {}) => watch({ storageState: signedIn, ...options })
  const addItem = (text: string) =>
    send(api, 'POST', `/collections/${collection.id}/items`, {
      key: tenant.secretKey,
      body: { type: 'message', content: { text }, author: text.slice(0, 100) },
    })

  /** A key of the tenant is used and then found at this place. */
  const leakKey = async (url: string) => {
    const { key } = (
      await send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, body: { kind: 'secret', name: 'continuous integration' } })
    ).body.data
    await send(api, 'GET', '/usage', { key })
    await send(api, 'GET', '/tenant', { key, headers: { origin: 'https://thief.example' } })
    const got = await sendReport(api, signer, JSON.stringify([{ token: key, type: 'atrium_secret_key', url, source: 'content' }]))
    assert.equal(got.status, 200, got.text)
  }

  before(async () => {
    keyServer = await startReportKeyServer(signer)
    const settings = { egress: 'loopback', leaksKeysUrl: keyServer.url }
    ;[browser, api] = await Promise.all([startTestBrowser(), startTestApi(settings), ensureConsole()])
    tenant = await api.makeTenant('Harbour')
    const made = await send(api, 'POST', '/collections', {
      key: tenant.secretKey,
      body: { metadata: { share_title: 'Lantern night' }, wall: true, item_access: 'open' },
    })
    collection.id = made.body.data.id
    collection.token = made.body.data.admin_token
    const webhook = { url: 'https://hooks.example/in' }
    await send(api, 'PUT', '/tenant/webhooks', { key: tenant.secretKey, body: webhook })
    for (const text of ['first wish', 'second wish', 'third wish']) await addItem(text)
    await leakKey('https://github.com/octocat/Hello-World/blob/main/foo/bar.txt')

    const { page, problems } = await watch()
    const link = await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id })
    await page.goto(`${api.origin}/console${new URL(link.url).hash}`)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.equal(new URL(page.url()).hash, '', 'the secret of the link is not in the address')
    assert.deepEqual(problems, [])
    signedIn = await page.context().storageState()
    await page.context().close()
  })
  after(async () => {
    await browser?.close()
    await api?.close()
    keyServer?.close()
  })

  test('items are found and curated by keyboard alone, and a change can be undone', async () => {
    const { page, problems } = await open()
    const { keyboard } = page
    await page.goto(`${api.origin}/console`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await keyboard.press('Control+k')
    await keyboard.type('lantern')
    await page.getByRole('option', { name: 'Lantern night' }).waitFor()
    await keyboard.press('Enter')
    await page.getByText('third wish').first().waitFor()
    await keyboard.press('j')
    assert.ok(await page.evaluate("document.querySelector('.item') === document.activeElement"))
    let changes = 0
    page.on('response', (answer) => {
      if (answer.request().method() === 'PATCH') changes++
    })
    for (const key of ['a', 'j', 'h', 'j', 'x', 'k', 'j', 'x', 'u']) await keyboard.press(key)
    for (let tries = 0; changes < 5 && tries < 400; tries++) await page.waitForTimeout(50)
    const flags = async () => {
      const { body } = await send(api, 'GET', `/collections/${collection.id}/items`, {
        key: tenant.secretKey,
        collectionToken: collection.token,
      })
      return body.data.items.map((item: any) => [item.content.text, item.approved, item.hero, item.archived])
    }
    const wanted = [
      ['first wish', true, false, true],
      ['second wish', true, true, false],
      ['third wish', false, false, false],
    ]
    await page.waitForTimeout(50)
    assert.deepEqual(await flags(), wanted)
    await keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await assertAccessible(page, 'shortcuts')
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('an item that is added elsewhere is announced without a reload', async () => {
    const { page, problems } = await open()
    await page.goto(`${api.origin}/console/events`)
    await page.getByText('item.created').first().waitFor()
    const before = await page.locator('.log li').count()
    await addItem('a wish from elsewhere')
    await page.locator('.log li').nth(before).waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a leaked key is shown with its place and requests, and an owner chooses what happens to the next', async () => {
    const { page, problems } = await open()
    await leakKey('javascript:alert(1)')
    await page.goto(`${api.origin}/console/keys`)
    const leaked = page.getByRole('article', { name: 'Leaked key continuous integration' })
    await leaked.nth(1).waitFor()
    assert.equal(await leaked.last().getByRole('link').getAttribute('rel'), 'noopener noreferrer')
    assert.equal(await leaked.first().getByRole('link').count(), 0, 'only https becomes a link')
    const text = (await leaked.first().textContent()) ?? ''
    for (const part of ['revoked by the report', 'javascript:alert(1)', 'https://thief.example: 1'])
      assert.ok(text.includes(part), text)
    await page.getByRole('button', { name: 'Only tell us' }).click()
    await assertAccessible(page, 'the policy')
    await page.getByRole('button', { name: 'Keep them valid' }).click()
    await page.getByText('stays valid, and you are told').waitFor()
    await leakKey('https://github.com/octocat/Hello-World/issues/1')
    await page.goto(`${api.origin}/console`)
    await page.getByText('was found in public and is still valid').waitFor()
    const { data } = (await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })).body
    const valid = data.filter(({ name, revoked_at }: any) => name === 'continuous integration' && revoked_at === null)
    for (const { id } of valid) await send(api, 'DELETE', `/tenant/keys/${id}`, { key: tenant.secretKey })
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a request and a delivery that happen elsewhere appear without a reload', async () => {
    const { page, problems } = await open()
    await send(api, 'PUT', '/tenant/requests/settings', { key: tenant.secretKey, body: { enabled: 'yes' } })
    await page.goto(`${api.origin}/console/logs?request=%2Ftenant%2Frequests%2Fsettings`)
    await page.locator('tbody tr').first().waitFor()
    assert.equal(await page.locator('tbody tr').count(), 1)
    await send(api, 'PUT', '/tenant/requests/settings', { key: tenant.secretKey, body: { enabled: 'no' } })
    await page.locator('tbody tr').nth(1).waitFor()
    await page.goto(`${api.origin}/console/webhooks/default`)
    await page.locator('tbody tr').first().waitFor()
    const before = await page.locator('tbody tr').count()
    await addItem('a wish that is delivered')
    // Reading the events numbers the new one, as a worker does, and with that its delivery exists.
    await send(api, 'GET', '/events', { key: tenant.secretKey })
    await page.locator('tbody tr').nth(before).waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('an epoch is published after a question; a private key does not leave the browser', async () => {
    const { page, problems } = await open()
    const sent: string[] = []
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.postData() ?? ''))
    await page.goto(`${api.origin}/console/credits/epochs`)
    await page.getByText('0 credits').waitFor()
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    await page.getByRole('button', { name: 'Publish an epoch' }).click()
    const field = page.getByLabel('Public key (JWK)')
    await field.fill(JSON.stringify(privateKey.export({ format: 'jwk' })))
    await page.getByText('This has a private key').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await field.fill(JSON.stringify(publicKey.export({ format: 'jwk' })))
    await page.getByText('This is a public key.').waitFor()
    await assertAccessible(page, 'an epoch')
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('takes 10 credits from your balance').waitFor()
    assert.deepEqual(sent, [])
    await page.getByRole('button', { name: 'Publish the epoch' }).click()
    await page.getByText('10 credits', { exact: true }).waitFor()
    assert.equal(sent.length, 1)
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a new key is in the page only while the dialog shows it, and nothing is stored', async () => {
    const { page, problems } = await open()
    await page.goto(`${api.origin}/console/keys`)
    await page.getByRole('table').waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('Name').fill('by keyboard')
    await page.keyboard.press('Enter')
    const shown = page.locator('.secret code')
    await shown.waitFor()
    const key = (await shown.textContent()) ?? ''
    assert.equal((await send(api, 'GET', '/tenant', { key })).status, 200)
    await assertAccessible(page, 'a secret')
    // Also without the focus in the dialog, the browser does not close it for good.
    for (const focus of ['true', 'document.activeElement.blur()']) {
      await page.evaluate(focus)
      for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
    }
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
    await page.getByLabel('I have stored it').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await shown.waitFor({ state: 'detached' })
    assert.ok(!(await page.content()).includes(key))
    assert.equal(await page.evaluate('localStorage.length + sessionStorage.length'), 0)
    assert.ok(await page.getByText('by keyboard').isVisible())
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('axe finds nothing on any page, light and dark, and a phone shows each without a sideways scroll', async () => {
    const [wide, small] = await Promise.all([open(), open({ ...phone, colorScheme: 'dark' })])
    const parts = ['', '/artifacts', '/preview', '/settings'].map((part) => `/collections/${collection.id}${part}`)
    for (const path of [...pages, ...parts]) {
      await Promise.all([
        visit(wide.page, path).then(() => assertAccessible(wide.page, `${path} light`)),
        visit(small.page, path),
      ])
      assert.deepEqual(await stickingOut(small.page), [], path)
      if (inDark.has(path)) await assertAccessible(small.page, `${path} dark`, 'contrast')
    }
    await small.page.getByRole('button', { name: 'Menu' }).click()
    await small.page.getByRole('link', { name: 'Overview' }).waitFor()
    await assertAccessible(small.page, 'the drawer')
    assert.deepEqual([...wide.problems, ...small.problems], [])
    await Promise.all([wide.page.context().close(), small.page.context().close()])
  })

  test('whatever strangers write, nothing of it runs, and no other site is asked for anything', async () => {
    const texts = HOSTILE_TEXTS.map((text) => text.replaceAll('\0', '').toWellFormed().slice(0, 2_000)).filter(
      (text) => text.trim() !== '',
    )
    assert.ok(texts.length >= 40)
    const { secretKey: key } = tenant
    await Promise.all([
      ...texts.map((text) => addItem(text)),
      ...texts.slice(0, 12).map((text) =>
        send(api, 'POST', '/collections', {
          key,
          body: { metadata: { share_title: text, share_description: text, theme: text } },
        }),
      ),
      ...texts
        .slice(0, 8)
        .map((name) => send(api, 'POST', '/tenant/keys', { key, body: { kind: 'publishable', name: name.slice(0, 120) } })),
      ...texts.slice(0, 8).map((text) =>
        send(api, 'POST', '/tenant/webhooks/endpoints', {
          key,
          body: { url: 'https://hooks.example/in', description: text.slice(0, 200) },
        }),
      ),
      ...texts.slice(0, 8).map((text) =>
        send({ baseUrl: api.origin }, 'POST', '/agents', {
          key,
          body: {
            name: text.slice(0, 120),
            description: text,
            instructions: text,
            greeting: text,
            price_credits: 1,
            max_minutes: 5,
          },
        }),
      ),
    ])
    const { page, problems } = await open()
    for (const path of ['', '/collections', `/collections/${collection.id}`, '/agents', '/keys', '/events'])
      await visit(page, path)
    await visit(page, `/collections/${collection.id}`)
    assert.ok((await page.locator('.item').count()) >= 40)
    for (let at = 0; at < 12; at++) {
      await page.locator('.item').nth(at).getByRole('button', { name: 'Open' }).click()
      await page.locator('dialog pre').waitFor()
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
    }
    await visit(page, `/collections/${collection.id}/preview`)
    const frames = await page.evaluate("[...document.querySelectorAll('iframe')].map((frame) => frame.getAttribute('sandbox'))")
    assert.deepEqual(frames, ['', 'allow-scripts'], 'the frames cannot reach the session')
    for (const text of texts.slice(0, 10))
      await page.goto(`${api.origin}/console/collections?q=${encodeURIComponent(text)}#link=${encodeURIComponent(text)}`)
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  /** The elements beyond the right edge, if the page scrolls sideways. */
  function stickingOut(page: Page): Promise<string[]> {
    return page.evaluate(`(() => {
      const { clientWidth, scrollWidth } = document.documentElement
      const isOut = (element) => scrollWidth > clientWidth && element.getBoundingClientRect().right > clientWidth
      return [...document.querySelectorAll('main *')].filter(isOut).map((element) => element.outerHTML.slice(0, 120))
    })()`)
  }

  async function visit(page: Page, path: string): Promise<void> {
    await page.goto(`${api.origin}/console${path}`)
    await page.locator('main h1').waitFor()
    // Until everything that the page reads has been shown.
    await page.locator('.loading').first().waitFor({ state: 'detached' })
  }
})
