import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, makeTenant, type TestTenant } from './support/call-api.ts'
import { inviteMember, openConsole } from './support/role-cells.ts'

describe('an agent is tried in a test room from the console', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let database: TestDatabase
  let atrium: AtriumProcess
  let browser: Browser
  let tenant: TestTenant
  before(async () => {
    database = await createTestDatabase()
    ;[atrium, browser] = await Promise.all([startAtrium({ databaseUrl: database.url, space: true }), startTestBrowser()])
    tenant = await makeTenant(atrium.origin)
  })
  after(async () => {
    await browser?.close()
    await atrium?.end()
    await database?.drop()
  })

  const addCredits = async (credits: number) => {
    const address = 'https://harbour.example/'
    const body = { purpose: 'prefund', credits, success_url: address, cancel_url: address }
    const { data } = await askGood(atrium.origin, 'POST /v1/checkout', { key: tenant.secret, body })
    const form = new URLSearchParams({ do: 'pay' })
    const paid = await fetch(`${atrium.origin}/v1/checkout/${data.id}/pay`, { method: 'POST', body: form, redirect: 'manual' })
    assert.ok(paid.status < 400, String(paid.status))
  }
  const makeAgent = async (status: string, manifest: object = {}) => {
    const body = {
      name: 'Lamplighter',
      description: 'Keeps one company.',
      instructions: 'Be brief.',
      price_credits: 5,
      max_minutes: 30,
      ...manifest,
    }
    const { data } = await askGood(atrium.origin, 'POST /agents', { key: tenant.secret, body })
    await askGood(atrium.origin, `PUT /agents/${data.id}/status`, { key: tenant.secret, body: { status } })
    return data.id
  }
  const ownerLink = async () => {
    const body = { kind: 'tenant', tenant_id: tenant.id }
    return (await askGood(atrium.origin, 'POST /v1/operator/console-links', { operator: true, body })).data.url
  }
  const openAgent = async (id: string, options: BrowserContextOptions = {}, link?: string) => {
    const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options })
    const page = await context.newPage()
    const sent: string[] = []
    page.on('request', (request) => sent.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`))
    await page.goto(link ?? (await ownerLink()))
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.goto(`${atrium.origin}/console/agents/${id}`)
    await page.getByRole('heading', { name: 'Ratings' }).waitFor()
    return { page, sent }
  }
  const balance = async () => {
    const { data } = await askGood(atrium.origin, 'GET /v1/wallets/issuer', { key: tenant.secret })
    return (data as unknown as { balance: number }).balance
  }
  const press = async (page: Page, name: string) => {
    await page.getByRole('button', { name, exact: true }).focus()
    await page.keyboard.press('Enter')
  }

  test('by keyboard: the price is confirmed, the agent answers in the room, is stopped and paid once; no secret key is used', async () => {
    await addCredits(20)
    const id = await makeAgent('private')
    const { page, sent } = await openAgent(id)
    await press(page, 'Try in a test room')
    const dialog = page.getByRole('dialog', { name: 'Try Lamplighter for 5 credits' })
    await dialog.getByText('Your balance has 20 credits.').waitFor()
    assert.equal(await balance(), 20, 'nothing is paid before the confirmation')
    await assertAccessible(page, 'the price')
    await press(page, 'Launch for 5 credits')
    await page.getByText('running', { exact: true }).waitFor()
    const link = page.getByRole('link', { name: 'Open the room' })
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Open the room')
    await assertAccessible(page, 'a trial')
    const roomUrl = new URL((await link.getAttribute('href')) ?? '')
    assert.equal(roomUrl.origin, atrium.spacesOrigin)
    const mk = roomUrl.hash.split('.')[1] ?? assert.fail('no key')

    const [room] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Enter')])
    await room.getByLabel('Message', { exact: true }).fill('Is it late?')
    await room.keyboard.press('Enter')
    await room.locator('.message', { has: room.locator('.agent-mark'), hasText: 'Is it late?' }).waitFor()
    await room.close()

    // Another page of the console does not forget the trial.
    await page.getByRole('link', { name: 'Sessions of this agent' }).click()
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    await page.goBack()
    await press(page, 'Stop the agent')
    await page.getByText('5 of 5 credits were charged.').waitFor()
    await page.getByText('It was stopped. 5 credits were charged.').waitFor()
    assert.equal(await balance(), 15)
    await page.getByRole('button', { name: 'Try again' }).waitFor()

    assert.deepEqual(
      sent.filter((line) => line.includes('wsk_') || line.includes(tenant.secret)),
      [],
    )
    const paths = new Set(sent.filter((line) => line.includes(mk)).map((line) => line.split(' ').slice(0, 2).join(' ')))
    assert.deepEqual(
      paths,
      new Set(['space', 'sessions'].map((path) => `POST ${atrium.origin}/v1/${path}`)),
      'the key of the room',
    )
    const kept = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])')
    assert.ok(!kept.includes(mk))
    await page.reload()
    await page.getByRole('button', { name: 'Try in a test room' }).waitFor()
    assert.ok(!(await page.content()).includes(mk))
    await page.context().close()
  })

  test('on a phone, in the dark, with a coupon: one that is spent is refused in the dialog, and another one pays', async () => {
    const { data } = await askGood(atrium.origin, 'POST /v1/wallets/grant', {
      key: tenant.secret,
      headers: { 'idempotency-key': randomUUID() },
      body: { amount: 6 },
    })
    const id = await makeAgent('active')
    const { page } = await openAgent(id, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
    const refused = { error: { code: 'rate_limited', message: 'Too many requests.', request_id: 'req_0123456789' } }
    await page.route('**/v1/', (route) => route.fulfill({ status: 429, json: refused }), { times: 1 })
    await press(page, 'Try in a test room')
    await page.getByRole('alert').getByText('Too many requests.').waitFor()
    await press(page, 'Try again')
    await page.getByLabel('Pay with').selectOption('coupon')
    const field = page.getByLabel('Coupon or wallet code')
    await field.fill('cpn_unknown')
    await page.keyboard.press('Enter')
    await page.getByText('insufficient_credit').first().waitFor()
    await field.fill(data.coupon)
    await assertAccessible(page, 'the dialog', 'contrast')
    // The agent is launched, and no answer arrives. What is asked for again is the same launch.
    await page.route('**/v1/sessions', (route) => route.fetch().then(() => route.abort()))
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('network_error').waitFor({ timeout: 20_000 })
    await page.unroute('**/v1/sessions')
    for (const key of ['End', 'x', 'Backspace', 'Enter']) await field.press(key)
    await page.getByText('running', { exact: true }).waitFor()
    assert.match((await page.getByRole('link', { name: 'Open the room' }).getAttribute('href')) ?? '', /^http/)
    await assertAccessible(page, 'a trial in the dark', 'contrast')
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    await press(page, 'Stop the agent')
    await page.getByText('5 of 5 credits were charged.').waitFor()
    await page.context().close()
  })

  test('a price that was raised meanwhile is not paid, and an agent that never joins costs nothing', async () => {
    await addCredits(20)
    const before = await balance()
    const id = await makeAgent('private')
    const { page } = await openAgent(id)
    await press(page, 'Try in a test room')
    await page.getByText('Your balance has').waitFor()
    await askGood(atrium.origin, `PATCH /agents/${id}`, { key: tenant.secret, body: { price_credits: 9 } })
    await press(page, 'Launch for 5 credits')
    await page.getByText('price_changed').first().waitFor()
    const { data } = await askGood(atrium.origin, `GET /v1/sessions?agent_id=${id}`, { key: tenant.secret })
    assert.deepEqual(data, [])
    assert.ok((await balance()) >= before - 5)
    await page.context().close()

    // Nobody answers at this address.
    const gone = await makeAgent('private', { name: 'Gone', endpoint: 'https://agent.invalid/launch' })
    const remote = await openAgent(gone)
    await press(remote.page, 'Try in a test room')
    await press(remote.page, 'Launch for 5 credits')
    await remote.page.getByText('failed', { exact: true }).waitFor({ timeout: 60_000 })
    await remote.page.getByText('0 of 5 credits were charged.').waitFor()
    await remote.page.context().close()
  })

  test('a trial is followed over a slow network, and stays after the same person signed in again', async () => {
    await addCredits(20)
    const { page } = await openAgent(await makeAgent('private'))
    // Longer than the page waits before it asks again.
    await page.route(/\/sessions\/ses_\w+$/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      await route.continue()
    })
    await press(page, 'Try in a test room')
    await press(page, 'Launch for 5 credits')
    await page.getByText('running', { exact: true }).waitFor()

    await page.context().clearCookies()
    await page.locator('nav a', { hasText: 'Keys' }).first().click()
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
    const other = await page.context().newPage()
    await other.goto(await ownerLink())
    await other.getByRole('button', { name: 'Open the console' }).click()
    await other.getByRole('heading', { name: 'Overview' }).waitFor()
    await other.close()
    // A headless browser keeps no tab hidden.
    await page.evaluate("dispatchEvent(new Event('focus'))")
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
    await page.goBack()
    await press(page, 'Stop the agent')
    await page.getByText('5 of 5 credits were charged.').waitFor()
    await page.context().close()
  })

  test('a draft says what to do, and an analyst is offered no launch', async () => {
    const { page } = await openAgent(await makeAgent('draft'))
    await page.getByText('A draft cannot be launched. Make the agent private above').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Try in a test room' }).count(), 0)
    await page.getByLabel('Who may launch it').selectOption('private')
    await page.getByRole('button', { name: 'Try in a test room' }).waitFor()
    await page.context().close()

    const owner = await openConsole(atrium.origin, tenant.id)
    const { invitation } = await inviteMember(atrium.origin, owner, 'analyst')
    const analyst = await openAgent(await makeAgent('active'), {}, invitation.url)
    assert.equal(await analyst.page.getByText('test room').count(), 0)
    await analyst.page.context().close()
  })
})
