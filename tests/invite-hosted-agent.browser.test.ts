import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { generateAgentKey, publicPartOf } from '../packages/client/src/sealed-agent.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { assertNoTrouble, makeListedRoom, newVisitor, write } from '../packages/web/src/space/testing/visitor.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { makeTenant } from './support/call-api.ts'
import { fundIssuer } from './support/fund-issuer.ts'
import { eventually, openAgency } from './support/remote-agents.ts'

// The published Space app in a browser, the API at another origin, and an agent that the installation runs itself.
describe('a hosted agent in a client-sealed room', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let database: TestDatabase
  let atrium: AtriumProcess
  let browser: Browser
  let agency: Awaited<ReturnType<typeof openAgency>>
  let agentId = ''

  before(async () => {
    database = await createTestDatabase()
    // The key of a tenant that exists before the Space service starts.
    const before = await startAtrium({ databaseUrl: database.url })
    const tenant = await makeTenant(before.origin)
    await fundIssuer(before.origin, tenant.secret, 1_000)
    await before.end()
    const env = { ATRIUM_SPACE_PUBLISHABLE_KEY: tenant.publishable }
    atrium = await startAtrium({ databaseUrl: database.url, space: true, spacePort: await freePort(), env })
    agency = await openAgency(atrium.origin)
    const { client } = agency
    const manifest = { name: 'Lamplighter', description: 'Lights lamps.', instructions: '', price_credits: 3, max_minutes: 30 }
    const { data } = await client.registerAgent({ body: manifest })
    await client.setAgentStatus({ agentId: data.id, body: { status: 'active' } })
    agentId = data.id
    browser = await startTestBrowser()
  })

  after(async () => {
    await browser?.close()
    await atrium?.end()
    await database?.drop()
  })

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const line = (page: Page) => page.locator('.invited')
  const notice = (page: Page) => page.locator('.banner', { hasText: 'The operator of Lamplighter can read along in this room.' })

  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000)

  async function openPeople(page: Page): Promise<void> {
    const list = page.getByRole('heading', { name: 'On the list' })
    if (!(await list.isVisible())) await page.getByRole('button', { name: 'People', exact: true }).first().click()
    await list.waitFor()
  }

  async function choose(page: Page, name: string, coupon: string): Promise<void> {
    await openPeople(page)
    await button(page, 'Invite an agent').click()
    await button(page, `Choose ${name}`).click()
    await page.getByLabel('Coupon').fill(coupon)
  }

  /** The platform names this end of a session, in minutes after its launch, in place of the real one. */
  async function nameEnd(page: Page, minutes: number): Promise<void> {
    await page.route('**/sessions/summon', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback()
      const response = await route.fetch()
      const { data } = await response.json()
      await route.fulfill({ response, json: { data: { ...data, expires_at: inMinutes(minutes).toISOString() } } })
    })
  }

  /** The form of the agent, with a coupon and the owner's consent. */
  async function fillIn(page: Page, coupon: string, consents = true): Promise<void> {
    await choose(page, 'Lamplighter', coupon)
    if (consents) await page.getByLabel('I let the operator of this service read along in this room while Lamplighter').check()
  }

  test('it comes only with the owner’s consent, everybody is told while it is here, and the key changes when it leaves', async () => {
    const coupon = await agency.newCoupon()
    const [ann, eve] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const { page } = ann
    await makeListedRoom(page, atrium.spacesOrigin)
    await openPeople(page)
    await page.getByLabel('Invite somebody').fill('Eve')
    await page.keyboard.press('Enter')
    await button(page, 'Show link for Eve').click()
    await eve.page.goto(await page.getByLabel('Invitation for Eve').inputValue())
    await button(eve.page, 'Answer the invitation').click()
    await button(page, 'Let in Eve').click()
    await eve.page.getByRole('heading', { name: 'The room is ready' }).waitFor({ timeout: 20_000 })

    await fillIn(page, coupon, false)
    await page.getByText('so its operator can read everything in this room').waitFor()
    await page.getByText('Everyone in this room is told so.').waitFor()
    await button(page, 'Invite for 3 credits').click()
    await page.getByText('Otherwise this agent cannot come.').waitFor()
    await assertAccessible(page, 'consent')
    assert.equal(await notice(page).count(), 0)
    assert.deepEqual(await agency.balance(coupon), [5, 0])
    await page.getByLabel('I let the operator of this service read along in this room while Lamplighter').check()
    await button(page, 'Invite for 3 credits').click()
    await line(page).getByText('Lamplighter reads along until').waitFor({ timeout: 30_000 })
    assert.deepEqual(await agency.balance(coupon), [2, 3])
    for (const { page: shown } of [ann, eve]) await notice(shown).waitFor()
    await assertAccessible(page, 'room')

    await write(eve.page, 'Who lights the lamps?')
    for (const { page: shown } of [ann, eve]) {
      const answer = shown.locator('.message', { has: shown.locator('.agent-mark'), hasText: 'Who lights the lamps?' })
      await answer.getByText(`${agentId} of this service: its operator can read along`).waitFor({ timeout: 20_000 })
    }
    await eve.page.reload()
    await notice(eve.page).waitFor()
    await page.reload()
    await notice(page).waitFor()
    await line(page).getByText('Lamplighter reads along until').waitFor()

    await button(page, 'Send away Lamplighter').click()
    await line(page).getByText('Lamplighter has left. It cost 3 credits.').waitFor({ timeout: 30_000 })
    for (const { page: shown } of [ann, eve]) await notice(shown).waitFor({ state: 'detached' })
    await write(eve.page, 'It has gone.')
    await page.locator('.message', { hasText: 'It has gone.' }).waitFor()
    assert.equal(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('/agent/')).length), 0)
    assertNoTrouble(ann)
    assertNoTrouble(eve)
    await Promise.all([ann.close(), eve.close()])
  })

  test('a page that is closed between consent and launch goes on when it is opened again, and pays once', async () => {
    const coupon = await agency.newCoupon()
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, atrium.spacesOrigin)
    const link = page.url()
    let lost = 0
    // The service launches, and the answer is lost.
    await page.route('**/sessions/summon', async (route) => {
      if (route.request().method() === 'POST') {
        await route.fetch()
        lost++
      }
      await route.abort()
    })
    await fillIn(page, coupon)
    await button(page, 'Invite for 3 credits').click()
    await eventually(async () => lost > 0, 'an answer is lost')
    await notice(page).waitFor()
    await page.goto('about:blank')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.goto(link)
    await line(page).getByText('Lamplighter reads along until').waitFor({ timeout: 30_000 })
    assert.deepEqual(await agency.balance(coupon), [2, 3])
    await button(page, 'Send away Lamplighter').click()
    await line(page).getByText('Lamplighter has left. It cost 3 credits.').waitFor({ timeout: 30_000 })
    await notice(page).waitFor({ state: 'detached' })
    await ann.close()
  })

  test('the owner keeps the end that was agreed, whatever the platform names', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, atrium.spacesOrigin)
    await nameEnd(page, 300)
    await fillIn(page, await agency.newCoupon())
    await button(page, 'Invite for 3 credits').click()
    await line(page).getByText('Lamplighter reads along until').waitFor({ timeout: 30_000 })
    const shown = await line(page).innerText()
    // The agent stays for half an hour at most.
    const clock = new Intl.DateTimeFormat('en-GB', { hour: 'numeric', minute: '2-digit' })
    const agreed = [26, 27, 28, 29, 30].map((minutes) => clock.format(inMinutes(minutes)))
    assert.ok(
      agreed.some((time) => shown.includes(time)),
      `${shown}: not one of ${agreed.join()}`,
    )
    await button(page, 'Send away Lamplighter').click()
    await ann.close()
  })

  test('it leaves the list after the end that was named at the launch, although the platform says that it runs', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, atrium.spacesOrigin)
    // The page waits for a minute after the end.
    await nameEnd(page, -0.75)
    await fillIn(page, await agency.newCoupon())
    await button(page, 'Invite for 3 credits').click()
    await notice(page).waitFor()
    const hasLeft = async () => {
      // The page looks at its agents now, and not up to 20 s later.
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
      return (
        (await line(page)
          .getByText(/Lamplighter has left[.:]/)
          .count()) > 0
      )
    }
    await eventually(hasLeft, 'it has left', 60_000)
    await notice(page).waitFor({ state: 'detached', timeout: 30_000 })
    await ann.close()
  })

  test('an agent that the owner removes while its launch has no answer does not come back', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, atrium.spacesOrigin)
    let asked = 0
    await page.route('**/sessions/summon', async (route) => {
      if (route.request().method() === 'POST') asked++
      await route.abort()
    })
    await fillIn(page, await agency.newCoupon())
    await button(page, 'Invite for 3 credits').click()
    await notice(page).waitFor()
    await page.reload()
    await openPeople(page)
    await button(page, 'Remove Lamplighter').click()
    await button(page, 'Remove it').click()
    await notice(page).waitFor({ state: 'detached' })
    await line(page).getByText('Lamplighter could not come. It cost nothing.').waitFor({ timeout: 30_000 })
    const before = asked
    await page.waitForTimeout(3_000)
    assert.equal(await notice(page).count(), 0)
    assert.equal(asked, before)
    await ann.close()
  })

  test('a launch that is refused takes the consent back, and the form says why', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, atrium.spacesOrigin)
    await page.route('**/sessions/summon', async (route) => {
      const json = { error: { code: 'insufficient_credit', message: 'spent' } }
      await route.fulfill({ status: 402, headers: { 'access-control-allow-origin': '*' }, json })
    })
    await fillIn(page, await agency.newCoupon())
    await button(page, 'Invite for 3 credits').click()
    await page.getByRole('alert').filter({ hasText: 'coupon' }).waitFor({ timeout: 20_000 })
    await line(page).getByText('Lamplighter could not come. It cost nothing.').waitFor({ timeout: 20_000 })
    assert.equal(await notice(page).count(), 0)
    await ann.close()
  })

  test('a launch that is refused after the page was opened again says why beside the agent', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, atrium.spacesOrigin)
    await page.route('**/sessions/summon', (route) => route.abort())
    await fillIn(page, await agency.newCoupon())
    await button(page, 'Invite for 3 credits').click()
    await notice(page).waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.route('**/sessions/summon', async (route) => {
      const json = { error: { code: 'insufficient_credit', message: 'spent' } }
      await route.fulfill({ status: 402, headers: { 'access-control-allow-origin': '*' }, json })
    })
    await page.reload()
    await line(page).getByText('Lamplighter could not come. It cost nothing.').waitFor({ timeout: 30_000 })
    await line(page).getByText('less than 3 credits left').waitFor()
    assert.equal(await notice(page).count(), 0)
    await ann.close()
  })

  test('an owner whose list is full is told so, and neither a hosted nor a remote agent is said to come', async () => {
    const remote = { endpoint: 'https://agents.example/', encryption_key: publicPartOf(await generateAgentKey()) }
    const manifest = { name: 'Farlighter', description: 'Far away.', instructions: '', price_credits: 3, max_minutes: 30 }
    const { data } = await agency.client.registerAgent({ body: { ...manifest, ...remote } })
    await agency.client.setAgentStatus({ agentId: data.id, body: { status: 'active' } })
    const ann = await newVisitor(browser)
    const { page } = ann
    const full = page.getByRole('alert').filter({ hasText: 'The list is full' })
    await makeListedRoom(page, atrium.spacesOrigin)
    await openPeople(page)
    const field = page.getByLabel('Invite somebody')
    // The bytes of its line run out first. An invitation for one letter is the smallest.
    for (let letters = 32_768; letters >= 1;) {
      await field.fill('x'.repeat(letters))
      await button(page, 'Invite').click()
      await page.locator('.admit button[aria-disabled=false]').waitFor()
      if ((await field.inputValue()) !== '') letters = Math.floor(letters / 2)
    }
    await full.waitFor()
    await page.keyboard.press('Escape')
    const coupon = await agency.newCoupon()
    await fillIn(page, coupon)
    await button(page, 'Invite for 3 credits').click()
    await full.waitFor({ timeout: 20_000 })
    await line(page).getByText('Lamplighter could not come. It cost nothing.').waitFor({ timeout: 20_000 })
    assert.equal(await notice(page).count(), 0)
    await page.keyboard.press('Escape')
    await choose(page, 'Farlighter', coupon)
    await button(page, 'Invite for 3 credits').click()
    await full.waitFor({ timeout: 20_000 })
    assert.deepEqual(await agency.balance(coupon), [5, 0])
    await ann.close()
  })
})
