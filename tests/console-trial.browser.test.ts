import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import {
  assertAccessible,
  skipWithoutChromium,
  startTestBrowser,
  zoneAtNoon,
} from '../packages/web/src/testing/start-test-browser.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, call, makeCollection, makeTenant, type TestTenant } from './support/call-api.ts'

/** What somebody does who has never seen the console, by what its pages say. */
describe('a day of work in the console', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let database: TestDatabase
  let atrium: AtriumProcess
  let browser: Browser
  let tenant: TestTenant
  let page: Page
  let failedRequest: string
  let collection: { id: string; token: string }
  const received: string[] = []
  let mayAnswer: Promise<void> = Promise.resolve()
  // A receiver with a wrong path and a right one, as a typing error makes it.
  const receiver: Server = createServer((req, res) => {
    req.resume()
    if (req.url !== '/hook') return void res.writeHead(500).end('no such route')
    received.push(String(req.headers['webhook-id']))
    void mayAnswer.then(() => res.writeHead(200).end())
  })
  let hooks: string
  before(async () => {
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    hooks = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    database = await createTestDatabase()
    const env = { ATRIUM_EGRESS: 'loopback' }
    ;[atrium, browser] = await Promise.all([startAtrium({ databaseUrl: database.url, env }), startTestBrowser()])
    tenant = await makeTenant(atrium.origin)
    collection = await makeCollection(atrium.origin, tenant.secret, { metadata: { share_title: 'Lantern night' } })
    const { id } = collection
    await askGood(atrium.origin, 'PUT /v1/tenant/webhooks', { key: tenant.secret, body: { url: `${hooks}/hok` } })
    for (let i = 0; i < 21; i++) {
      const body = { type: 'message', content: { text: `Wish ${i}` } }
      await askGood(atrium.origin, `POST /v1/collections/${id}/items`, { key: tenant.secret, body })
    }
    const refused = await call(atrium.origin, `POST /v1/collections/${id}/items`, { key: tenant.secret, body: { type: 'A B' } })
    failedRequest = String(refused.headers['x-request-id'])
    const body = { kind: 'tenant', tenant_id: tenant.id }
    const link = (await askGood(atrium.origin, 'POST /v1/operator/console-links', { operator: true, body })).data.url
    const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', timezoneId: zoneAtNoon() })
    page = await context.newPage()
    await page.goto(link)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })
  after(async () => {
    await browser?.close()
    await atrium?.end()
    await database?.drop()
    receiver.close()
    receiver.closeAllConnections()
  })

  test('the overview leads to the refused request, which the day finds', async () => {
    const seen = page.getByText(/\d+ failed, [1-9]\d* refused/)
    // The log is written with a delay of seconds.
    for (let tries = 0; tries < 20 && (await seen.count()) === 0; tries++) {
      await page.reload()
      await page.getByText(/failed, \d+ refused/).waitFor()
    }
    await seen.waitFor()
    assert.equal(await page.getByText(/^About [\d,]+$/).count(), 0, 'counts are exact')
    await page.getByRole('link', { name: 'refused', exact: true }).click()
    await page.getByRole('link', { name: 'invalid_request' }).waitFor()
    await page.getByLabel('Day').selectOption('Yesterday')
    await page.getByText('No request matches').waitFor()
    await page.getByLabel('Day').selectOption('Today')
    await page.getByLabel('Result').selectOption('All errors')
    await page.getByTitle(failedRequest).waitFor()
    await assertAccessible(page, 'the logs of a day')
    await page
      .locator('tr', { has: page.getByTitle(failedRequest) })
      .getByRole('link', { name: /^POST/ })
      .click()
    const opened = page.getByRole('region', { name: 'The request' })
    await opened.getByText('invalid_request').waitFor()
    assert.match(page.url(), new RegExp(`request=${failedRequest}$`))
    assert.match(await opened.innerText(), new RegExp(failedRequest))
    // Neither the field nor the id is in the log. The page says where they are.
    await opened.getByText('A field is missing, unknown, of the wrong type or over its limit').waitFor()
    await opened
      .getByText(/caller received has the details: error.message, and error.details, which lists each invalid field/)
      .waitFor()
    await opened.getByText('It stores the path as the API declares it, without the ids.').waitFor()
    await assertAccessible(page, 'one request of the log')
    await page.reload()
    await opened.waitFor()
    await page.getByRole('link', { name: 'All requests' }).click()
    await page.getByLabel('Result').selectOption('All errors')
    // The row must come from the next answer, and not be left from this one.
    await page.getByLabel('Request id or path').fill('/v1/no/such/path')
    await page.getByText('No request matches').waitFor()
    await page.getByLabel('Request id or path').fill(`/v1/collections/${collection.id}/items`)
    await page.getByTitle(failedRequest).waitFor()
    await page.getByLabel('Request id or path').fill('req_0000000000000000000000')
    await page.getByText('No request of the last 7 days has this id').waitFor()
    await page.getByText(/may also belong to another tenant/).waitFor()
    await page.getByLabel('Request id or path').fill('req_00000')
    await page.getByText('This is not a whole request id').waitFor()
    await page.goto(`${atrium.origin}/console/logs`)
    await page.getByRole('button', { name: 'Switch the log off' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Requests are logged, and kept for 7 days.').waitFor()
  })

  test('a test event answers at once, and an endpoint without deliveries says that it is not listed', async () => {
    const body = { url: `${hooks}/hook`, events: ['checkout.paid'] }
    const { data } = await askGood(atrium.origin, 'POST /v1/tenant/webhooks/endpoints', { key: tenant.secret, body })
    await page.goto(`${atrium.origin}/console/webhooks/${data.id}`)
    await page.getByRole('heading', { name: new URL(hooks).host }).waitFor()
    await page.getByRole('button', { name: 'Send a test event', exact: true }).click()
    await page.getByText(/^Delivered: status 200/).waitFor()
    await page.getByText('A test event shows its answer at once, and is not listed here.').waitFor()
    await askGood(atrium.origin, `DELETE /v1/tenant/webhooks/endpoints/${data.id}`, { key: tenant.secret })
  })

  test('a broken endpoint is named on the overview, is mended, and gets what it missed', async () => {
    const concern = page.getByRole('link', { name: /Of the last \d+ deliveries to .*hok, \d+ failed and (is|are) tried again/ })
    for (let tries = 0; tries < 20 && (await concern.count()) === 0; tries++) {
      await page.goto(`${atrium.origin}/console`)
      await page.getByText('The last 48 hours').waitFor()
      await page.waitForTimeout(500)
    }
    await concern.click()
    // The cause is beside the state, whatever the newest deliveries are.
    await page.getByText(/The last failure, .* ago: The endpoint answered 500\./).waitFor()
    await page.getByText(/After five failures in a row, an endpoint gets one delivery at a time/).waitFor()
    const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row')
    const states = () => rows.locator('td[data-label="Status"]').allInnerTexts()
    assert.ok(new Set(await states()).has('retrying'))
    await page.getByLabel('Status').selectOption('Retrying: failed, and tried again')
    assert.deepEqual([...new Set(await states())], ['retrying'])
    await page
      .getByRole('button', { name: /attempts: show them/ })
      .first()
      .click()
    const attempts = page.getByRole('dialog', { name: /^Attempts of/ })
    await attempts
      .getByText(/\d{1,2}:\d{2}:\d{2}.* ago\), \d+ ms/)
      .first()
      .waitFor()
    await attempts.getByRole('button', { name: 'Copy as curl: resend this delivery' }).waitFor()
    await assertAccessible(page, 'the attempts of a delivery')
    await page.keyboard.press('Escape')
    await page.getByLabel('Status').selectOption('Failed: given up')
    await page.getByText(/None of the newest \d+ deliveries has this status/).waitFor()
    await page.getByLabel('Status').selectOption('Every status')
    const heights = await Promise.all((await rows.all()).slice(1).map(async (row) => (await row.boundingBox())?.height ?? 0))
    assert.ok(Math.max(...heights) < 60, `${heights}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    const address = page.getByLabel('Address')
    await address.fill('http://10.0.0.1/hook')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('This was not accepted. The marked field says why.').waitFor()
    assert.equal(await address.getAttribute('aria-invalid'), 'true')
    await dialog.locator('input[type=url]:focus').waitFor()
    assert.doesNotMatch(await dialog.innerText(), /\/url/)
    await assertAccessible(page, 'a form with a field that was not accepted')
    await address.fill(`${hooks}/hook`)
    const held = Promise.withResolvers<void>()
    mayAnswer = held.promise
    const due = rows.filter({ has: page.getByText(/^(now|queued)$/) })
    await due.getByRole('button', { name: 'Resend', disabled: false }).first().waitFor()
    await page.keyboard.press('Enter')
    await Promise.all([
      page.getByText('Saved. Deliveries that are due are being sent now. Retries scheduled for later are not moved.').waitFor(),
      page.getByText(`${hooks}/hook`, { exact: true }).first().waitFor(),
      // What is on its way is not sent twice.
      due.getByRole('button', { name: 'Resend', disabled: true }).first().waitFor(),
    ])
    held.resolve()
    await rows.getByText('succeeded').first().waitFor()
    await page.getByRole('button', { name: 'Resend' }).first().click()
    await page.getByText('It is sent again').waitFor()
    assert.ok(received.length > 0)
  })

  test('20 items are curated by keyboard, and the messages do not cover the list', async () => {
    await page.goto(`${atrium.origin}/console/collections/${collection.id}`)
    await page.getByText('Wish 20').first().waitFor()
    await page.keyboard.press('j')
    for (let i = 0; i < 20; i++) {
      await page.keyboard.press('a')
      await page.keyboard.press('j')
    }
    await page.getByText('No longer approved').waitFor()
    assert.equal(await page.locator('.toast').count(), 1)
    const hidden = async () => {
      const { data } = await askGood(atrium.origin, `GET /v1/collections/${collection.id}/items?limit=100`, {
        key: tenant.secret,
        headers: { 'x-collection-token': collection.token },
      })
      return data.items.filter((item) => !(item as unknown as { approved: boolean }).approved).length
    }
    for (let tries = 0; tries < 200 && (await hidden()) < 20; tries++) await page.waitForTimeout(100)
    assert.equal(await hidden(), 20)
  })

  test('on a phone, the first change does not move the list, and its message takes it back', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${atrium.origin}/console/collections/${collection.id}`)
    const items = page.locator('.item')
    await items.nth(5).waitFor()
    const before = (await items.nth(5).boundingBox())?.y
    await items.nth(1).getByRole('button', { name: 'Archived' }).click()
    await items.nth(1).getByText('archived').waitFor()
    assert.equal((await items.nth(5).boundingBox())?.y, before)
    await items.nth(1).getByRole('button', { name: 'Hero' }).click()
    await page.getByText('Visitors do not see the hero: it is archived').waitFor()
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
    await items.nth(1).getByText('hero').waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 1_280, height: 720 })
  })

  test('a key is rotated, and the new one is shown once and works', async () => {
    await page.goto(`${atrium.origin}/console/keys`)
    await page.getByRole('button', { name: 'Rotate' }).first().click()
    await page.getByRole('button', { name: 'Rotate the key', exact: true }).click()
    const made = await page
      .getByText(/^w[sp]k_[0-9A-Za-z]{20,}$/)
      .first()
      .textContent()
    assert.equal((await call(atrium.origin, 'GET /v1/catalog', { key: made ?? '' })).status, 200)
  })

  test('on a phone, the result of copying is at the button of a secret, and messages are above a dialog', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${atrium.origin}/console/keys`)
    await page.getByRole('button', { name: 'New key' }).click()
    const isOnTop = (selector: string) =>
      page.evaluate<boolean>(`(() => {
        const element = document.querySelector(${JSON.stringify(selector)})
        const { x, y, width, height } = element.getBoundingClientRect()
        return element.contains(document.elementFromPoint(x + width / 2, y + height / 2))
      })()`)
    const clipboard = (answer: string) => page.evaluate(`navigator.clipboard.writeText = () => ${answer}`)
    await clipboard('Promise.resolve()')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: /^Copy as curl/ }).click()
    await dialog.getByText('Copied as curl.').waitFor()
    assert.ok(await isOnTop('.toast'), 'the dialog covers the message')
    await dialog.getByRole('button', { name: 'Create the key', exact: true }).click()
    const status = dialog.locator('.secret [role=status]')
    await clipboard('Promise.reject(new Error("denied"))')
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click()
    await status.getByText('Could not copy').waitFor()
    assert.ok(await isOnTop('.secret [role=status]'))
    const secret = await dialog.locator('.secret code').textContent()
    assert.equal(await page.evaluate('String(getSelection())'), secret)
    await clipboard('Promise.resolve()')
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click()
    await dialog.getByRole('button', { name: 'Copied', exact: true }).waitFor()
    await status.getByText('Copied').waitFor({ state: 'attached' })
    await page.setViewportSize({ width: 1_280, height: 720 })
  })
})
