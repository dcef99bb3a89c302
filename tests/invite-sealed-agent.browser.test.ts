import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { SessionLaunchedSealed } from '../packages/client/src/agent-request.ts'
import { verifyAgentRequest } from '../packages/client/src/remote-agent.ts'
import {
  generateAgentKey,
  joinSealedSession,
  publicPartOf,
  type SealedAgentSession,
} from '../packages/client/src/sealed-agent.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { assertNoTrouble, makeListedRoom, newVisitor, write } from '../packages/web/src/space/testing/visitor.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { makeTenant } from './support/call-api.ts'
import { fundIssuer } from './support/fund-issuer.ts'
import { eventually, openAgency, startEndpoint } from './support/remote-agents.ts'

// The published Space app in a browser, the API at another origin, and a remote agent that uses the client library.
describe('an agent invited into a client-sealed room', { skip: skipWithoutChromium, timeout: 290_000 }, () => {
  let database: TestDatabase
  let atrium: AtriumProcess
  let browser: Browser
  let agency: Awaited<ReturnType<typeof openAgency>>

  before(async () => {
    database = await createTestDatabase()
    // The key of a tenant that exists before the Space service starts.
    const before = await startAtrium({ databaseUrl: database.url })
    const tenant = await makeTenant(before.origin)
    await fundIssuer(before.origin, tenant.secret, 1_000)
    await before.end()
    const env = { ATRIUM_SPACE_PUBLISHABLE_KEY: tenant.publishable, ATRIUM_EGRESS: 'loopback' }
    atrium = await startAtrium({ databaseUrl: database.url, space: true, spacePort: await freePort(), env })
    agency = await openAgency(atrium.origin)
    const { client } = agency
    const lamplighter = {
      name: 'Lamplighter',
      description: 'Keeps one company.',
      instructions: '',
      price_credits: 0,
      max_minutes: 30,
    }
    const { data } = await client.registerAgent({ body: lamplighter })
    await client.setAgentStatus({ agentId: data.id, body: { status: 'active' } })
    browser = await startTestBrowser()
  })

  after(async () => {
    await browser?.close()
    await atrium?.end()
    await database?.drop()
  })

  /** A remote agent in the catalog, which repeats what it reads. */
  async function startAgent(t: TestContext, name: string) {
    const agentKey = await generateAgentKey()
    const joined: SealedAgentSession[] = []
    let secret = ''
    const work = async (launch: SessionLaunchedSealed) => {
      const session = await joinSealedSession(launch, { agentKey, name, lookEveryMs: 300 })
      joined.push(session)
      for await (const { id, message } of session.entries) await session.say(`You said: *${message.text}*`, { replyTo: id })
    }
    const endpoint = await startEndpoint(t, async (body, headers) => {
      const request = await verifyAgentRequest(body, headers, secret)
      if (request.type === 'session.launched_sealed') void work(request).catch(() => undefined)
      return 204
    })
    const manifest = { name, description: 'Repeats what it reads.', instructions: '', price_credits: 3, max_minutes: 30 }
    const { client } = agency
    const key = { endpoint: endpoint.url, encryption_key: publicPartOf(agentKey) }
    const { data } = await client.registerAgent({ body: { ...manifest, ...key } })
    await client.setAgentStatus({ agentId: data.id, body: { status: 'active' } })
    secret = data.signing_secret!
    return { joined, endpoint, id: data.id }
  }

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const line = (page: Page) => page.locator('.invited')

  async function openCatalog(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'People', exact: true }).first().click()
    await page.getByRole('heading', { name: 'On the list' }).waitFor()
    await button(page, 'Invite an agent').click()
    await page.getByText('Lamplighter').first().waitFor()
  }

  async function invite(page: Page, name: string, coupon: string): Promise<void> {
    await openCatalog(page)
    await button(page, `Choose ${name}`).click()
    await page.getByLabel('Coupon').fill(coupon)
    await page.keyboard.press('Enter')
  }

  test('it comes with what is sealed to its key, answers, is still there after a reload, and is sent away', async (t) => {
    const { joined, endpoint, id } = await startAgent(t, 'Dice')
    const coupon = await agency.newCoupon()
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, atrium.spacesOrigin)
    await openCatalog(page)
    // One that runs on the service says what that means.
    const hosted = page.locator('.catalog li', { hasText: 'Lamplighter' })
    await hosted.getByText('it can come only if you let the operator read along').waitFor()
    await assertAccessible(page, 'catalog')
    await button(page, 'Choose Dice').click()
    await page.getByText('no server can open it').waitFor()
    await page.getByText('Keep this room open').waitFor()
    await assertAccessible(page, 'terms')
    await page.getByLabel('Coupon').fill(coupon)
    await button(page, 'Invite for 3 credits').click()
    await line(page).getByText('Dice reads along until').waitFor()
    assert.deepEqual(await agency.balance(coupon), [2, 3])
    assert.equal('mk' in endpoint.launchedSealed(), false)

    await write(page, 'Anybody there?')
    const answer = page.locator('.message', { hasText: 'You said: Anybody there?' })
    await answer.locator('.agent-mark').waitFor()
    await answer.getByText(`${id}, invited by the owner`).waitFor()
    assert.equal((await answer.locator('.byline').innerText()).match(/agent/gi)?.length, 1, 'it is called an agent once')
    await assertAccessible(page, 'room')

    await page.reload()
    await line(page).getByText('Dice reads along until').waitFor()
    await button(page, 'Send away Dice').click()
    await line(page).getByText('Dice has left. It cost 3 credits.').waitFor({ timeout: 30_000 })
    assert.deepEqual(await agency.balance(coupon), [2, 0])
    await assert.rejects(joined[0]!.room.read(), { name: 'NotListedError' })
    // Nothing is left of the visit.
    await page.reload()
    await page.locator('.message', { hasText: 'Anybody there?' }).first().waitFor()
    assert.equal(await line(page).count(), 0)
    assert.equal(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('/agent/')).length), 0)
    assertNoTrouble(ann)
    await ann.close()
  })

  test('a page that is closed before the answer to a launch leaves no invitation, and nothing is charged', async (t) => {
    const { joined, endpoint } = await startAgent(t, 'Late')
    const coupon = await agency.newCoupon()
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, atrium.spacesOrigin)
    const link = page.url()
    // The platform launches the agent, and its answer is lost with the page.
    await page.route('**/v1/sessions', async (route) => void (await route.fetch()))
    await invite(page, 'Late', coupon)
    await eventually(async () => endpoint.requests.length > 0 && endpoint.launchedSealed(), 'it is launched')
    // Another tab does not disturb a launch that goes on.
    const other = await ann.context.newPage()
    await other.goto(link)
    await other.getByRole('button', { name: 'People', exact: true }).first().click()
    await other.getByRole('heading', { name: 'Invitations' }).waitFor()
    await other.close()
    await page.goto('about:blank')
    // After the page has gone: the end of the interception lets a request pass that is still held, and its answer is the stored one.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.goto(link)
    await page.getByRole('button', { name: 'People', exact: true }).first().click()
    await page.getByRole('heading', { name: 'On the list' }).waitFor()
    await eventually(async () => (await page.getByRole('heading', { name: 'Invitations' }).count()) === 0, 'it was taken back')
    await eventually(
      async () => page.evaluate(() => !Object.keys(localStorage).some((key) => key.includes('/launch/'))),
      'nothing is left of the launch',
    )
    await page.getByRole('button', { name: 'Close' }).click()
    await write(page, 'Nobody else reads this')
    await eventually(async () => (await agency.balance(coupon))[1] === 0, 'the session has failed', 60_000)
    assert.deepEqual(await agency.balance(coupon), [5, 0])
    assert.equal(joined.length, 0)
    await ann.close()
  })

  test('while no page of the owner is open it stays on the list, and the next page removes it', async (t) => {
    const { joined } = await startAgent(t, 'Echo')
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, atrium.spacesOrigin)
    const link = page.url()
    await invite(page, 'Echo', await agency.newCoupon())
    await line(page).getByText('Echo reads along until').waitFor()
    await page.goto('about:blank')
    const session = joined[0]!
    await session.stop()
    assert.equal((await session.room.members()).length, 2, 'its device is on the list')
    await page.goto(link)
    await line(page).getByText('Echo has left. It cost 3 credits.').waitFor({ timeout: 30_000 })
    await write(page, 'Now it is off the list')
    await assert.rejects(session.room.read(), { name: 'NotListedError' })
    assertNoTrouble(ann)
    await ann.close()
  })

  test('it leaves the list after the end that was named at the launch, although the platform does not say that it has ended', async (t) => {
    const { joined } = await startAgent(t, 'Rook')
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, atrium.spacesOrigin)
    await page.route('**/v1/sessions', async (route, request) => {
      if (request.method() !== 'POST') return route.fallback()
      const response = await route.fetch()
      const { data } = (await response.json()) as { data: object }
      const expires_at = new Date(Date.now() - 40_000).toISOString()
      return route.fulfill({ response, json: { data: { ...data, expires_at } } })
    })
    await invite(page, 'Rook', await agency.newCoupon())
    await line(page).getByText('Rook reads along until').waitFor()
    await line(page)
      .getByText(/Rook has left[.:]/)
      .waitFor({ timeout: 90_000 })
    await assert.rejects(
      eventually(async () => (await joined[0]!.room.read()) && undefined, 'it cannot read'),
      {
        name: 'NotListedError',
      },
    )
    // The platform says that the session goes on, so the agent would ask for its end for ever.
    joined[0]!.end()
    assertNoTrouble(ann)
    await ann.close()
  })

  test('a launch that is refused leaves no invitation behind, and another device of the list offers no agents', async (t) => {
    await startAgent(t, 'Iris')
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, atrium.spacesOrigin)
    const spent = await agency.newCoupon()
    await page.route('**/v1/sessions', async (route) => {
      await route.fulfill({
        status: 409,
        headers: { 'access-control-allow-origin': '*' },
        json: { error: { code: 'state_conflict', reason: 'agent_key_changed', message: 'changed' } },
      })
    })
    await invite(page, 'Iris', spent)
    await page.getByText('This agent has another key now').waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'People', exact: true }).first().click()
    await page.getByRole('heading', { name: 'On the list' }).waitFor()
    await eventually(async () => (await page.getByRole('heading', { name: 'Invitations' }).count()) === 0, 'it was taken back')
    const eve = await newVisitor(browser)
    await page.getByLabel('Invite somebody').fill('Eve')
    await page.keyboard.press('Enter')
    await button(page, 'Show link for Eve').click()
    await eve.page.goto(await page.getByLabel('Invitation for Eve').inputValue())
    await button(eve.page, 'Answer the invitation').click()
    await button(page, 'Let in Eve').click()
    await eve.page.getByRole('heading', { name: 'The room is ready' }).waitFor({ timeout: 20_000 })
    await eve.page.getByRole('button', { name: 'People', exact: true }).first().click()
    await eve.page.getByRole('heading', { name: 'On the list' }).waitFor()
    assert.equal(await button(eve.page, 'Invite an agent').count(), 0)
    await Promise.all([ann.close(), eve.close()])
  })
})
