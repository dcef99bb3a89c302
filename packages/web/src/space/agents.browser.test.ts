import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { addAgent, addCoupon, choose, lineOf, openCatalog, pay, problemIn, skipWithoutApi } from './testing/inviting.ts'
import { startSpace, type TestSpace } from './testing/start-space.ts'
import type { StubApi } from './testing/stub-api.ts'
import { STUB_COUPON_URL } from './testing/stub-space-server.ts'
import { assertNoTrouble, makeRoom, newVisitor, write } from './testing/visitor.ts'

describe('inviting an agent', { skip: skipWithoutChromium || skipWithoutApi, timeout: 240_000 }, () => {
  let browser: Browser
  let space: TestSpace
  let api: StubApi

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startSpace()])
    api = space.api!
  })

  beforeEach(() => api.reset())

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  test('one is chosen from the catalog, paid by a coupon, seen coming, heard, and sent away; its key and the coupon are kept nowhere', async () => {
    for (let i = 0; i < 22; i++) addAgent(api, `Agent ${i}`)
    addAgent(api)
    const coupon = addCoupon(api, 8)
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const { link, mk } = await makeRoom(ann.page, space, 'On the quay')
    await bob.page.goto(link)
    await openCatalog(ann.page)
    await ann.page
      .getByRole('button', { name: /^Choose/ })
      .first()
      .waitFor()
    assert.equal(await ann.page.getByRole('button', { name: /^Choose/ }).count(), 20)
    await ann.page.getByRole('button', { name: 'Show more' }).click()
    await ann.page.getByRole('button', { name: 'Choose Lamplighter' }).waitFor()
    assert.equal(await ann.page.evaluate(() => document.activeElement?.textContent), 'Choose Agent 20')
    assert.equal(await ann.page.getByRole('button', { name: 'Show more' }).count(), 0)
    await ann.page.getByRole('button', { name: 'Choose Lamplighter' }).click()
    await ann.page.getByText('have this room’s key while it is here').waitFor()
    const terms = ann.page.getByRole('link', { name: 'Who can read along' })
    assert.equal(await terms.getAttribute('href'), `${api.origin}/docs/agents`)
    const buy = ann.page.getByRole('link', { name: 'Buy a coupon at coupons.example' })
    assert.equal(await buy.getAttribute('href'), STUB_COUPON_URL)
    api.arrivals.on = false
    await pay(ann.page, ` ${coupon}\n`)
    await ann.page.getByRole('dialog').waitFor({ state: 'detached' })
    await lineOf(ann.page, 'is coming').waitFor()
    api.arrivals.on = true
    await lineOf(ann.page, 'reads along until').waitFor()
    for (const { page } of [ann, bob]) {
      const said = page.locator('.message', { hasText: 'Here I am.' })
      await said.locator('.agent-mark').waitFor()
      assert.equal(await said.locator('.name').textContent(), 'Lamplighter')
    }
    assert.equal(await bob.page.locator('.invited').count(), 0)
    const stored = await ann.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]))
    assert.ok(!stored.includes(coupon) && !stored.includes(mk))

    // After an agent has been in the room, its owner must be trusted as well.
    await ann.page.getByRole('button', { name: 'Protection', exact: true }).click()
    await ann.page.locator('[data-check=agents].trusted').waitFor()

    // Also after a reload of the page.
    await ann.page.reload()
    await lineOf(ann.page, 'reads along until').waitFor()
    await ann.page.getByRole('button', { name: 'Send away Lamplighter' }).click()
    await lineOf(ann.page, 'has left. It cost 5 credits.').waitFor()
    assert.equal(api.sessions[0]?.status, 'stopped')
    await ann.page.getByRole('button', { name: 'Dismiss Lamplighter' }).click()
    await ann.page.locator('.invited').waitFor({ state: 'detached' })
    assert.equal(await ann.page.evaluate(() => document.activeElement?.id), 'message')
    assert.equal(await ann.page.evaluate(() => Object.keys(sessionStorage).length), 0)
    const places = (secret: string) =>
      new Set(ann.sent.flatMap(({ url, body }) => (url.includes(secret) || body.includes(secret) ? [url] : [])))
    assert.deepEqual(places(coupon), new Set([`${api.origin}/v1/sessions`]))
    assert.deepEqual(places(mk), new Set([`${space.origin}/space`, `${api.origin}/v1/sessions`]))
    for (const visitor of [ann, bob]) {
      assertNoTrouble(visitor)
      await visitor.close()
    }
  })

  test('a launch whose responses are lost is retried, also by another press: one agent joins and is paid once', async () => {
    addAgent(api)
    const coupon = addCoupon(api, 20)
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    // Covers every attempt of the first press and the first attempt of the second press.
    api.troubles.push(...Array.from({ length: 5 }, () => 'lose the answer' as const))
    await choose(ann.page)
    await pay(ann.page, coupon)
    await problemIn(ann.page).getByText('neither invites nor pays twice').waitFor({ timeout: 20_000 })
    await ann.page.getByRole('button', { name: 'Invite for 5 credits' }).click()
    await lineOf(ann.page, 'reads along').waitFor({ timeout: 20_000 })
    assert.equal(api.presses.length, 6)
    assert.equal(new Set(api.presses).size, 1)
    assert.deepEqual([api.sessions.length, api.coupons.get(coupon)], [1, 15])
    // The first launch has been answered, so the next press is a new launch.
    await choose(ann.page)
    await pay(ann.page, coupon)
    await problemIn(ann.page).getByText('Lamplighter is in this room already. Nothing was taken').waitFor()
    assert.equal(new Set(api.presses).size, 2)
    assert.deepEqual([api.sessions.length, api.coupons.get(coupon)], [1, 15])
    await ann.close()
  })

  test('if the request to stop fails, the agent is shown as present; the second attempt removes it', async () => {
    addAgent(api)
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    await choose(ann.page)
    await pay(ann.page, addCoupon(api, 5))
    await lineOf(ann.page, 'reads along').waitFor()
    await ann.context.route('**/stop', (route) => route.abort())
    await ann.page.getByRole('button', { name: 'Send away Lamplighter' }).click()
    await lineOf(ann.page, 'could not be sent away').waitFor()
    await ann.context.unroute('**/stop')
    await ann.page.getByRole('button', { name: 'Send away Lamplighter' }).click()
    await lineOf(ann.page, 'has left').waitFor()
    await ann.close()
  })

  test('with the keyboard alone one invites an agent, writes, and sends it away', async () => {
    addAgent(api)
    const coupon = addCoupon(api, 5)
    const ann = await newVisitor(browser)
    const { page } = ann
    const tabTo = async (wanted: string) => {
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press('Tab')
        const here = await page.evaluate(() => {
          const element = document.activeElement!
          return (
            element.getAttribute('aria-label') ?? (element as HTMLInputElement).labels?.[0]?.textContent ?? element.textContent
          )
        })
        if (here?.trim() === wanted) return page.keyboard.press('Enter')
      }
      return assert.fail(`no ${wanted} in reach`)
    }
    await makeRoom(page, space)
    await page.waitForFunction(() => document.activeElement?.id === 'message')
    await page.locator('.head-button').first().focus()
    await tabTo('People')
    await tabTo('Invite an agent')
    await page.getByRole('button', { name: 'Choose Lamplighter' }).waitFor()
    await tabTo('Choose Lamplighter')
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Lamplighter Agent')
    await tabTo('Coupon')
    await problemIn(page).waitFor()
    await page.keyboard.insertText(coupon)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'People')
    await tabTo('Send away Lamplighter')
    await lineOf(page, 'has left').waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.invited').waitFor({ state: 'detached' })
    await write(page, 'Alone again')
    await page.locator('.message', { hasText: 'Alone again' }).waitFor()
    assertNoTrouble(ann)
    await ann.close()
  })

  test('a service without a key for it says nothing of agents', async () => {
    addAgent(api)
    const ann = await newVisitor(browser)
    await ann.context.route('**/space-config', async (route) => {
      const res = await route.fetch()
      await route.fulfill({ response: res, json: { ...((await res.json()) as object), publishable_key: null } })
    })
    await makeRoom(ann.page, space)
    await ann.page.getByRole('button', { name: 'People', exact: true }).click()
    await ann.page.getByText('Nobody yet.').waitFor()
    assert.equal(await ann.page.getByText(/agent/i).count(), 0)
    assert.ok(ann.sent.every(({ url }) => !url.startsWith(api.origin)))
    await ann.close()
  })
})
