import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { HOSTILE_TEXTS } from '../testing/hostile-values.ts'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { addAgent, addCoupon, lineOf, openCatalog, pay, skipWithoutApi } from './testing/inviting.ts'
import { assertFitsPhone, PHONE } from './testing/phone.ts'
import { startSpace, type TestSpace } from './testing/start-space.ts'
import type { StubApi } from './testing/stub-api.ts'
import { assertNoTrouble, makeRoom, newVisitor } from './testing/visitor.ts'

describe('inviting agents, for everyone', { skip: skipWithoutChromium || skipWithoutApi, timeout: 240_000 }, () => {
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

  /** From the catalog to an agent that has left, with texts of the maximum length. */
  async function visitAll(page: Page, look: (what: string) => Promise<void>): Promise<void> {
    const description = `Tells of lamps, ${'z'.repeat(300)}, and of the sea. `.repeat(4)
    addAgent(api, 'L'.repeat(120), { description, price_credits: 1_000_000, max_minutes: 90 })
    const coupon = addCoupon(api, 1)
    await makeRoom(page, space)
    await page.getByRole('button', { name: 'People', exact: true }).click()
    await page.getByRole('button', { name: 'Invite an agent' }).waitFor()
    await look('people')
    await page.keyboard.press('Escape')
    await openCatalog(page)
    await page.getByRole('button', { name: 'Choose LLL' }).waitFor()
    await look('the catalog')
    await page.getByRole('button', { name: 'Choose LLL' }).click()
    await page.getByRole('heading', { name: 'Before you invite it' }).waitFor()
    await look('the terms')
    await pay(page, coupon)
    await page.getByText('This coupon does not pay for it').waitFor()
    await look('a coupon that does not pay')
    api.troubles.push({ status: 403, code: 'not_authorized', reason: 'not_on_list' })
    await pay(page, coupon)
    await page.getByText('is not on this room’s list').waitFor()
    await look('an agent that is not on the list')
    api.coupons.set(coupon, 1_000_000)
    await pay(page, coupon)
    await lineOf(page, 'reads along').waitFor()
    await look('an agent that is here')
    await page.getByRole('button', { name: 'Send away LLL' }).click()
    await lineOf(page, 'has left').waitFor()
    await look('an agent that has left')
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe finds nothing on the way, ${colorScheme}`, async () => {
      const ann = await newVisitor(browser, { colorScheme, reducedMotion: 'reduce' })
      await visitAll(ann.page, (what) => assertAccessible(ann.page, what))
      assertNoTrouble(ann)
      await ann.close()
    })
  }

  test('nothing runs over the edge of a small phone, and every button is large enough for a thumb', async () => {
    const ann = await newVisitor(browser, { ...PHONE, reducedMotion: 'reduce' })
    await visitAll(ann.page, (what) => assertFitsPhone(ann.page, what))
    assertNoTrouble(ann)
    await ann.close()
  })

  test('with text twice as large on a phone, the name of an agent has half of the width, also beside a button', async () => {
    addAgent(api)
    const ann = await newVisitor(browser, PHONE)
    const { page } = ann
    await makeRoom(page, space)
    await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
    const assertWide = async (what: string) => {
      const width = (await page.locator(what).boundingBox())?.width ?? 0
      assert.ok(width > PHONE.viewport.width / 2, `${what}: ${width} px`)
    }
    await openCatalog(page)
    await page.getByRole('button', { name: 'Choose Lamplighter' }).waitFor()
    await assertWide('.catalog li > p')
    await page.getByRole('button', { name: 'Choose Lamplighter' }).click()
    await pay(page, addCoupon(api, 5))
    await page.getByRole('button', { name: 'Send away Lamplighter' }).waitFor()
    await assertWide('.invited li p')
    await ann.close()
  })

  test('the name and description of an agent are shown as plain text, and nothing in them runs', async () => {
    const texts = HOSTILE_TEXTS.map((text) => text.replace(/\0/g, '').toWellFormed())
    assert.ok(texts.length >= 30)
    for (const text of texts) addAgent(api, text.slice(0, 120), { description: text.slice(0, 2_000) })
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const { page } = ann
    const { link } = await makeRoom(page, space)
    const choices = page.getByRole('button', { name: /^Choose/ })
    const openAll = async () => {
      await openCatalog(page)
      for (let count = 20; count < texts.length; count += 20) {
        await choices.nth(count - 1).waitFor()
        await page.getByRole('button', { name: 'Show more' }).click()
      }
      await choices.nth(texts.length - 1).waitFor()
    }
    await openAll()
    const shown = await page
      .locator('.catalog li')
      .evaluateAll((items) => items.map((item) => ['.name', '.description'].map((part) => item.querySelector(part)!.textContent)))
    assert.deepEqual(
      shown,
      api.agents.map(({ name, description }) => [name, description]),
    )
    for (const [i, { name }] of api.agents.entries()) {
      await choices.nth(i).click()
      assert.equal(await page.locator('.chosen .name').textContent(), name)
      await page.getByRole('button', { name: 'All agents' }).click()
    }
    await page.keyboard.press('Escape')
    // Hostile names in the room: a tag, an event handler, an attribute that is closed early.
    const invited = [0, 7, 25]
    for (const i of invited) {
      await openAll()
      await choices.nth(i).click()
      await pay(page, addCoupon(api, 5))
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await bob.page.goto(link)
    for (const visitor of [ann, bob]) {
      await visitor.page.waitForFunction(() => document.querySelectorAll('.message .agent-mark').length === 3)
      const names = await visitor.page.locator('.message .name').allTextContents()
      assert.deepEqual(new Set(names), new Set(invited.map((i) => api.agents[i]!.name)))
      assertNoTrouble(visitor)
      await visitor.close()
    }
  })
})
