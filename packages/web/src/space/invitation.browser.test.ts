import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeListedRoom, message, newVisitor, openList, write } from './testing/visitor.ts'

describe('invitations to a client-sealed room with a list', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startRealSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  const row = (page: Page, text: string) => page.locator('.people li', { hasText: text })
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const heading = (page: Page, name: string) => page.getByRole('heading', { name })

  async function invite(page: Page, who: string): Promise<string> {
    await page.getByLabel('Invite somebody').fill(who)
    await page.keyboard.press('Enter')
    await button(page, `Show link for ${who}`).click()
    const link = await page.getByLabel(`Invitation for ${who}`).inputValue()
    await button(page, `Show link for ${who}`).click()
    return link
  }

  async function answer(page: Page, link: string, { name }: { name: string }): Promise<void> {
    await page.goto(link)
    await heading(page, 'You are invited to a room').waitFor()
    await page.getByLabel('Your name').fill(name)
    await button(page, 'Answer the invitation').click()
  }

  /** The service stores what is sent, and its answer does not arrive. `isDown`: nor does any answer after it. */
  async function loseAnswers(page: Page, { isDown }: { isDown: boolean }): Promise<void> {
    let lost = false
    await page.route('**/space', async (route) => {
      const isAppend = route.request().postData()?.includes('"op":"append"')
      if (!isAppend && !(lost && isDown)) return route.fallback()
      if (!lost) await route.fetch()
      lost = true
      return route.abort()
    })
  }

  test('an answer that was stored and seemed lost counts: the link of the invitation leads on, and so does another attempt', async () => {
    const [ann, bob, cem] = await Promise.all([newVisitor(browser), newVisitor(browser), newVisitor(browser)])
    await makeListedRoom(ann.page, space.origin)
    await openList(ann.page)
    const link = await invite(ann.page, 'Bob, by telephone')
    await loseAnswers(bob.page, { isDown: false })
    await answer(bob.page, link, { name: 'Bob' })
    await heading(bob.page, 'The invitation is answered').waitFor({ timeout: 40_000 })
    await bob.page.unrouteAll({ behavior: 'ignoreErrors' })
    await bob.page.goto('about:blank')
    await bob.page.goto(link)
    await heading(bob.page, 'The invitation is answered').waitFor()
    await button(ann.page, 'Let in Bob, by telephone').click()
    await heading(bob.page, 'The room is ready').waitFor({ timeout: 20_000 })
    await bob.page.goto('about:blank')
    await bob.page.goto(link)
    await heading(bob.page, 'The room is ready').waitFor()

    const other = await invite(ann.page, 'Cem, by telephone')
    await loseAnswers(cem.page, { isDown: true })
    await answer(cem.page, other, { name: 'Cem' })
    await cem.page.getByRole('alert').waitFor({ timeout: 40_000 })
    await button(ann.page, 'Let in Cem, by telephone').click()
    await row(ann.page, 'invited as Cem, by telephone').waitFor()
    await cem.page.unrouteAll({ behavior: 'ignoreErrors' })
    await button(cem.page, 'Answer the invitation').click()
    await heading(cem.page, 'The room is ready').waitFor({ timeout: 20_000 })
    for (const visitor of [ann, bob, cem]) await visitor.close()
  })

  test('the owner who opens an invitation to the own room comes to the room, and cannot answer it', async () => {
    const ann = await newVisitor(browser)
    await makeListedRoom(ann.page, space.origin)
    await openList(ann.page)
    const room = ann.page.url()
    const link = await invite(ann.page, 'Bob, by telephone')
    const other = await ann.context.newPage()
    await other.goto(link)
    await heading(other, 'The room is ready').waitFor()
    assert.equal(other.url(), room)
    await button(ann.page, 'Show link for Bob, by telephone').waitFor()
    assertNoTrouble(ann)
    await ann.close()
  })

  test('who goes elsewhere while a room is made, or an invitation leads to its room, stays there', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    await makeListedRoom(ann.page, space.origin)
    await openList(ann.page)
    const link = await invite(ann.page, 'Bob, by telephone')
    await answer(bob.page, link, { name: 'Bob' })
    await heading(bob.page, 'The invitation is answered').waitFor()
    for (const [from, op] of [
      [`${space.origin}/space`, 'make'],
      [link, 'read'],
    ] as const) {
      const page = await bob.context.newPage()
      const isMeant = (body: string | null) => body?.includes(`"op":"${op}"`) ?? false
      const [asked, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      await page.route('**/space', async (route) => {
        if (isMeant(route.request().postData())) {
          asked.resolve()
          await gone.promise
        }
        await route.continue()
      })
      await page.goto(from)
      if (op === 'make') await button(page, 'Make the room').click()
      await asked.promise
      await page.evaluate(() => void (location.hash = '#elsewhere'))
      await heading(page, 'This link is incomplete').waitFor()
      const answered = page.waitForResponse((res) => isMeant(res.request().postData()))
      gone.resolve()
      await answered
      // Longer than the page takes to go on.
      await page.waitForTimeout(1_000)
      assert.equal(new URL(page.url()).hash, '#elsewhere', op)
      await page.close()
    }
    await Promise.all([ann.close(), bob.close()])
  })

  test('a browser that has no space left, or keeps no keys, says what is true', async () => {
    const [ann, bob, cem] = await Promise.all([newVisitor(browser), newVisitor(browser), newVisitor(browser)])
    await makeListedRoom(ann.page, space.origin)
    await openList(ann.page)
    await bob.context.addInitScript("Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }")
    await answer(bob.page, await invite(ann.page, 'Bob, by telephone'), { name: 'Bob' })
    await heading(bob.page, 'The invitation is answered').waitFor()
    await button(ann.page, 'Let in Bob, by telephone').click()
    await heading(bob.page, 'The room is ready').waitFor({ timeout: 20_000 })
    await cem.context.addInitScript("Object.defineProperty(globalThis, 'indexedDB', { get() { throw new Error('off') } })")
    await cem.page.goto(await invite(ann.page, 'Cem, by telephone'))
    await cem.page.getByText('does not let the page store the keys of this device').waitFor()
    for (const visitor of [ann, bob, cem]) await visitor.close()
  })

  test('a wrong clock is no used invitation, and of two devices that answer one, the second is told that it is used', async () => {
    const [ann, bob, eve, late] = await Promise.all([0, 1, 2, 3].map(() => newVisitor(browser)))
    assert.ok(ann && bob && eve && late)
    await makeListedRoom(ann.page, space.origin)
    await openList(ann.page)
    const link = await invite(ann.page, 'Bob, by telephone')
    await late.context.addInitScript('const { now } = Date; Date.now = () => now.call(Date) + 600_000')
    await late.page.goto(link)
    await heading(late.page, 'The clock of this device is wrong').waitFor()
    await eve.page.goto(link)
    await heading(eve.page, 'You are invited to a room').waitFor()
    await answer(bob.page, link, { name: 'Bob' })
    await heading(bob.page, 'The invitation is answered').waitFor()
    await eve.page.getByLabel('Your name').fill('Eve')
    await button(eve.page, 'Answer the invitation').click()
    await heading(eve.page, 'This invitation is no longer valid').waitFor()
    for (const visitor of [ann, bob, eve, late]) {
      assertNoTrouble(visitor)
      await visitor.close()
    }
  })

  test('the text of an invitation stays on the device while the list has it, and until its failure is certain', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, space.origin)
    await openList(page)
    const texts = () => page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('/invitation/')).length)
    const becomes = (count: number) =>
      page.waitForFunction(
        (many) => Object.keys(localStorage).filter((key) => key.includes('/invitation/')).length === many,
        count,
      )
    const failWith = (status: number, error: string) =>
      page.route('**/space', async (route) => {
        if (!route.request().postData()?.includes('"op":"append"')) return route.fallback()
        await route.fulfill({ status, json: { error, reason: '' } })
      })
    const tryToInvite = async (who: string) => {
      await page.getByLabel('Invite somebody').fill(who)
      const answered = page.waitForResponse((one) => one.request().postData()?.includes('"op":"append"') ?? false)
      await page.keyboard.press('Enter')
      await answered
      await page.getByRole('alert').waitFor()
    }
    await invite(page, 'Bob')
    await invite(page, 'Cem')
    assert.equal(await texts(), 2)
    // Refused for good.
    await failWith(413, 'payload_too_large')
    await tryToInvite('Dan')
    await becomes(2)
    await page.unroute('**/space')
    // It may be on the list, or be asked for again.
    await failWith(500, 'internal')
    await tryToInvite('Eve')
    assert.equal(await texts(), 3)
    await page.unroute('**/space')
    await page.keyboard.press('Escape')
    await write(page, 'Another page of the room')
    await message(page, 'Another page of the room').waitFor()
    assert.equal(await texts(), 3)
    // Who leaves the room has given it up, also in a tab that stays.
    const room = new URL(page.url()).hash
    const goTo = (hash: string) => page.evaluate((to) => void (location.hash = to), hash)
    await page.evaluate('globalThis.isSamePage = true')
    await goTo('')
    await page.getByLabel('Message', { exact: true }).waitFor({ state: 'detached' })
    await goTo(room)
    await page.getByLabel('Message', { exact: true }).waitFor()
    await becomes(2)
    assert.equal(await page.evaluate('globalThis.isSamePage'), true)
    // And who closes the page.
    await button(page, 'People').first().click()
    await failWith(500, 'internal')
    await tryToInvite('Fay')
    assert.equal(await texts(), 3)
    await page.unroute('**/space')
    await page.reload()
    await page.getByLabel('Message', { exact: true }).waitFor()
    await becomes(2)
    await button(page, 'People').first().click()
    await button(page, 'Show link for Cem').waitFor()
    await button(page, 'Take back the invitation for Bob').click()
    await becomes(1)
    await button(page, 'Show link for Cem').waitFor()
    assertNoTrouble(ann)
    await ann.close()
  })
})
