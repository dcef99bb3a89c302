import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { ensureConsole } from '@atrium/web/build/ensure-console'
import { HOSTILE_TEXTS } from '@atrium/web/testing/hostile-values'
import { assertAccessible, openWatchedPage, skipWithoutChromium, startTestBrowser } from '@atrium/web/testing/start-test-browser'
import type { Browser, Page } from 'playwright-core'
import { startBeat } from '#processes/beat.ts'
import { consoleLink } from '#testing/console.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

/** The pages that have each kind of part between them. */
const pages = ['', '/invites', '/operators', '/agents', '/system', '/ledger', '/space', '/audit-log']
const inDark = new Set(['', '/system'])
const phone = { width: 390, height: 844 }

describe("the operator's console in Chromium", { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let browser: Browser
  let api: TestApi
  let page: Page
  let problems: string[]
  let stopBeat: () => Promise<void>
  const operator = { headers: {} as Record<string, string> }
  const asked: string[] = []

  before(async () => {
    ;[browser, api] = await Promise.all([startTestBrowser(), startTestApi(), ensureConsole()])
    operator.headers = { 'x-admin-token': api.adminToken }
    stopBeat = startBeat(api.ctx, 'worker')
    ;({ page, problems } = await openWatchedPage(
      browser,
      // 401: before the sign-in.
      { mayAsk: (url) => url.origin === api.origin || url.protocol === 'blob:', expected: /status of 401/ },
      { reducedMotion: 'reduce', viewport: { width: 1_440, height: 900 } },
    ))
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const link = await consoleLink(api, { kind: 'operator' })
    await page.goto(`${api.origin}/console${new URL(link.url).hash}`)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })
  after(async () => {
    await stopBeat?.()
    await browser?.close()
    await api?.close()
  })

  const go = async (path: string) => {
    await page.goto(`${api.origin}/console${path}`)
    await page.locator('main h1').waitFor()
    // What is loaded shows grey lines until then.
    await page.locator('.loading').first().waitFor({ state: 'detached' })
  }

  test('a tenant is created, suspended and found by keyboard alone, and each question names it', async () => {
    const { keyboard } = page
    await go('')
    await keyboard.press('g')
    await keyboard.press('t')
    await page.getByRole('heading', { name: 'Tenants' }).waitFor()
    await keyboard.press('n')
    await page.getByRole('dialog', { name: 'New tenant' }).waitFor()
    await page.getByLabel('Name').focus()
    await keyboard.type('Harbour Wall')
    await keyboard.press('Enter')
    const secrets = page.getByRole('dialog', { name: 'The keys of Harbour Wall' })
    await secrets.waitFor()
    await page.getByLabel(/I have stored it/).focus()
    await keyboard.press('Space')
    await page.getByRole('button', { name: 'Done' }).focus()
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Harbour Wall' }).waitFor()
    await page.getByRole('button', { name: 'Suspend', exact: true }).focus()
    await keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Suspend Harbour Wall?' }).waitFor()
    await page.getByRole('button', { name: 'Suspend Harbour Wall' }).focus()
    await keyboard.press('Enter')
    await page.getByText('suspended', { exact: true }).waitFor()
    await go('/tenants?q=harbour&status=suspended')
    await page.getByRole('link', { name: 'Harbour Wall' }).waitFor()
    assert.deepEqual(problems, [])
  })

  test('all data of a tenant is exported, also of a suspended one, and the call is copied as curl', async () => {
    const tenant = await api.makeTenant('Harbour Lights')
    await send(api, 'POST', '/collections', { key: tenant.secretKey, body: { metadata: { share_title: 'Wall' } } })
    await send(api, 'POST', `/tenants/${tenant.id}/status`, { ...operator, body: { status: 'suspended' } })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await go(`/tenants/${tenant.id}`)
    await page.getByLabel('With the files of artifacts').check()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export all data', exact: true }).click(),
    ])
    assert.match(file.suggestedFilename(), new RegExp(`^${tenant.id}-[0-9-]{10}\\.ndjson$`))
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n')
    assert.equal(JSON.parse(lines[0] ?? '').tenant_id, tenant.id)
    assert.ok(lines.some((line) => line.startsWith('{"table":"collections"') && line.includes('Wall')))
    assert.match(lines.at(-1) ?? '', /^\{"end":true,/)
    await page.getByText('The export is complete').waitFor()
    await page.getByRole('button', { name: 'Copy as curl: export all data' }).click()
    await page.getByText(/^Copied as curl/).waitFor()
    const command = await page.evaluate<string>('navigator.clipboard.readText()')
    assert.ok(command.startsWith(`curl '${api.origin}/v1/tenants/${tenant.id}/export?blobs=true'`), command)
    assert.match(command, /-H "x-admin-token: \$ATRIUM_ADMIN_TOKEN"/i)
    assert.deepEqual(problems, [])
  })

  test('names and addresses of tenants run nothing, and no page asks another server', async () => {
    const answers = await Promise.all(
      HOSTILE_TEXTS.map((text) => send(api, 'POST', '/tenants', { ...operator, body: { name: text.slice(0, 120) } })),
    )
    // The API refuses NUL and lone surrogates.
    const made = answers.filter(({ status }) => status === 201)
    assert.ok(made.length >= 40, `${made.length} names`)
    await go('/tenants')
    await page.getByRole('button', { name: 'Load more' }).click()
    await page
      .locator('tbody tr')
      .nth(made.length - 1)
      .waitFor()
    const { data } = (await send(api, 'GET', '/tenants?order=newest&limit=3', operator)).body
    for (const { id } of data) await go(`/tenants/${id}`)
    assert.deepEqual(problems, [])
  })

  test('a credential is made by keyboard, shown once, works, and is refused after it was revoked', async () => {
    const { keyboard } = page
    await go('/operators')
    await keyboard.press('n')
    await page.getByRole('dialog', { name: 'New credential' }).waitFor()
    await page.getByLabel('Name').focus()
    await keyboard.type('ada')
    await keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'The token of ada' }).waitFor()
    const token = (await page.locator('.secret code').textContent()) ?? ''
    const call = () => send(api, 'GET', '/operator/agents', { headers: { 'x-admin-token': token } })
    assert.equal((await call()).status, 200)
    await page.getByLabel(/I have stored it/).check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('cell', { name: 'ada', exact: true }).waitFor()
    assert.ok(!(await page.content()).includes(token))
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('button', { name: 'Revoke ada' }).click()
    await page.getByText('revoked', { exact: true }).waitFor()
    assert.equal((await call()).status, 401)
    assert.deepEqual(problems, [])
  })

  test('an agent is suspended and restored, whatever its name', async () => {
    const tenant = await api.makeTenant()
    const name = HOSTILE_TEXTS.find((text) => text.includes('<img'))!.slice(0, 120)
    const body = { name, description: name, instructions: '', price_credits: 1, max_minutes: 5 }
    const { id } = (await send({ baseUrl: api.origin }, 'POST', '/agents', { key: tenant.secretKey, body })).body.data
    await go('/agents')
    const row = page.locator('tbody tr', { hasText: tenant.id.slice(0, 10) })
    await row.getByRole('button', { name: 'Suspend' }).click()
    await page.locator('dialog').getByRole('button', { name: 'Suspend' }).click()
    await row.getByText('suspended').waitFor()
    const status = async () =>
      (await send({ baseUrl: api.origin }, 'GET', `/agents/${id}`, { key: tenant.secretKey })).body.data.status
    assert.equal(await status(), 'suspended')
    await row.getByRole('button', { name: 'Restore' }).click()
    await row.getByText('draft').waitFor()
    assert.equal(await status(), 'draft')
    assert.deepEqual(problems, [])
  })

  test('an audit is started and shows its end', async () => {
    await go('/ledger')
    await page.getByRole('button', { name: 'Start an audit', exact: true }).click()
    await page.getByText('queued').waitFor()
    await api.ctx.askedAudits.run()
    await page.getByText('Every balance is the sum of its movements.').waitFor()
    assert.deepEqual(problems, [])
  })

  test('a page that changes by itself is read again, and not while it is hidden', async () => {
    await go('/system')
    await page.clock.install()
    await go('/system')
    const reads = () => asked.filter((path) => path === '/v1/operator/queues').length
    const first = reads()
    for (let times = 0; times < 2; times++) {
      const answer = page.waitForResponse('**/v1/operator/queues')
      await page.clock.runFor(5_500)
      await answer
    }
    assert.ok(reads() >= first + 2, `${reads() - first} reads in 11 s`)
    await page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' });
      document.dispatchEvent(new Event('visibilitychange'))`)
    const hidden = reads()
    await page.clock.runFor(60_000)
    assert.equal(reads(), hidden)
    // A page that does not read at once would read some seconds later.
    await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 1_000)
    const again = page.waitForRequest((request) => request.url().endsWith('/v1/operator/queues'))
    await page.evaluate(`delete document.visibilityState; document.dispatchEvent(new Event('visibilitychange'))`)
    // It is read at once when it is seen again.
    await again
    await page.clock.resume()
  })

  test('axe finds nothing on any page, light and dark, and no page scrolls sideways on a phone', async () => {
    const { data } = (await send(api, 'GET', '/tenants?limit=1', operator)).body
    for (const path of [...pages, `/tenants/${data[0].id}`]) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize({ width: 1_440, height: 900 })
      await go(path)
      await assertAccessible(page, path)
      await page.setViewportSize(phone)
      if (inDark.has(path)) {
        await page.emulateMedia({ colorScheme: 'dark' })
        await assertAccessible(page, `${path}, dark`, 'contrast')
      }
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, path)
    }
    assert.deepEqual(problems, [])
  })
})
