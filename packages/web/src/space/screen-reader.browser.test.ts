import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { PHONE } from './testing/phone.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import {
  assertNoTrouble,
  explained,
  makeListedRoom,
  makeSealedRoom,
  message,
  newVisitor,
  openList,
  type Visitor,
  write,
} from './testing/visitor.ts'

/** What a screen reader gets: the accessibility tree, in which nothing is that a modal dialog covers. */
describe('the app as a screen reader hears it', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
  let browser: Browser
  let space: TestSpace
  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startRealSpace()])
  })
  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

  /** Waits until a text is in a live region that the browser exposes. */
  async function heard({ page, context }: Visitor, text: string | RegExp): Promise<void> {
    const said = page.locator('.visually-hidden[role=status] p').filter({ hasText: text })
    await explained([{ page }], said.first().waitFor({ state: 'attached' }))
    const cdp = await context.newCDPSession(page)
    assert.ok(await isExposed(cdp, await said.first().innerText()), `${String(text)} is not exposed`)
    await cdp.detach()
  }
  async function isExposed(cdp: CDPSession, text: string): Promise<boolean> {
    const { nodes } = await cdp.send('Accessibility.getFullAXTree')
    return nodes.some(({ ignored, name }) => !ignored && name?.value === text)
  }

  test('what a panel did is announced in the panel, because the page behind it is silent', async () => {
    const ann = await newVisitor(browser, PHONE)
    await makeSealedRoom(ann.page, space.origin)
    await button(ann.page, 'Share').click()
    // When the panel closes, an announcement that is older than half a second counts as read out. On a busy machine,
    // so much time may pass here.
    await ann.page.clock.setFixedTime(Date.now())
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Copy link' }).click()
    await heard(ann, 'Link copied')
    await ann.page.keyboard.press('Escape')
    await ann.page.getByRole('dialog').waitFor({ state: 'detached' })
    await write(ann.page, 'Back in the room')
    await heard(ann, 'Message written')
    assert.equal(await ann.page.locator('[role=status] p', { hasText: 'Link copied' }).count(), 1)
    assertNoTrouble(ann)
    await ann.close()
  })

  test('a field that is wrong is announced as invalid, with the reason, until it is corrected', async () => {
    const ann = await newVisitor(browser, PHONE)
    const cdp = await ann.context.newCDPSession(ann.page)
    const field = async () => {
      const { nodes } = await cdp.send('Accessibility.getFullAXTree')
      const found = nodes.find(({ role, name }) => role?.value === 'textbox' && name?.value === 'Their e-mail addresses')
      const invalid = found?.properties?.find(({ name }) => name === 'invalid')?.value.value
      return { invalid, description: String(found?.description?.value) }
    }
    await ann.page.goto(`${space.origin}/space`)
    await ann.page.getByLabel('Only people on a list').check()
    const addresses = ann.page.getByLabel('Their e-mail addresses')
    await addresses.fill('not an address')
    assert.equal((await field()).invalid, 'false')
    await button(ann.page, 'Make the room').click()
    await ann.page.getByText('This is not an e-mail address').waitFor()
    const wrong = await field()
    assert.equal(wrong.invalid, 'true')
    assert.match(wrong.description, /^This is not an e-mail address: /)
    await addresses.fill('bob@example.com')
    const { invalid, description } = await field()
    assert.deepEqual([invalid, description.includes('not an e-mail')], ['false', false])
    assertNoTrouble(ann)
    await ann.close()
  })

  test('the owner of a list hears and sees who waits to be let in, whether the panel is open or not', async () => {
    for (const isOpen of [false, true]) {
      const [ann, bob] = await Promise.all([newVisitor(browser, PHONE), newVisitor(browser)])
      await makeListedRoom(ann.page, space.origin)
      await openList(ann.page)
      await ann.page.getByLabel('Invite somebody').fill('Bob, by telephone')
      await ann.page.keyboard.press('Enter')
      await heard(ann, '1 invitation is ready')
      await button(ann.page, 'Show link for Bob, by telephone').click()
      await bob.page.goto(await ann.page.getByLabel('Invitation for Bob, by telephone').inputValue())
      if (!isOpen) {
        await ann.page.keyboard.press('Escape')
        await ann.page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      await bob.page.getByLabel('Your name').fill('Bob')
      await button(bob.page, 'Answer the invitation').click()
      await heard(ann, 'Bob waits to be let in')
      if (!isOpen) await ann.page.locator('.banner', { hasText: 'Bob waits' }).getByRole('button', { name: 'People' }).click()
      await button(ann.page, 'Let in Bob, by telephone').click()
      await heard(ann, 'Bob was let in')
      await ann.page.locator('.banner', { hasText: 'Bob waits' }).waitFor({ state: 'detached' })
      assertNoTrouble(ann)
      assertNoTrouble(bob)
      await ann.close()
      await bob.close()
    }
  })

  test('a message that the arrow keys reach is read out with its text', async () => {
    const ann = await newVisitor(browser)
    await makeSealedRoom(ann.page, space.origin)
    await write(ann.page, 'The lamps are lit')
    await message(ann.page, 'The lamps are lit').waitFor()
    await ann.page.keyboard.press('ArrowUp')
    const cdp = await ann.context.newCDPSession(ann.page)
    const { nodes } = await cdp.send('Accessibility.getFullAXTree')
    const focused = nodes.find(
      ({ role, properties }) =>
        role?.value === 'article' && properties?.some(({ name, value }) => name === 'focused' && value.value === true),
    )
    assert.match(String(focused?.name?.value), /^You, /)
    assert.equal(focused?.description?.value, 'The lamps are lit')
    await ann.close()
  })

  test('the focus stays in the room when the button that had it is gone', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    const secret = await makeSealedRoom(page, space.origin)
    await space.fillSealed?.(secret, 60)
    await write(page, `A long one ${'and on '.repeat(600)}`)
    await message(page, 'A long one').waitFor()
    const focused = () =>
      page.evaluate(() => {
        const { className, localName, textContent } = document.activeElement!
        return `${localName} ${className} ${textContent?.trim().slice(0, 20)}`
      })
    const press = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name, exact: true }).waitFor({ state: 'detached' })
    }
    const isAtLong = () => message(page, 'A long one').evaluate((element) => element === document.activeElement)
    await press('Show all')
    assert.ok(await isAtLong())
    // It is still the Tab stop of the list.
    await page.keyboard.press('Tab')
    assert.equal(await isAtLong(), false)
    await page.keyboard.press('Shift+Tab')
    assert.ok(await isAtLong())
    await message(page, '0:').first().focus()
    await page.keyboard.press('Home')
    await page.getByRole('button', { name: 'Newest' }).waitFor()
    await press('Newest')
    assert.match(await focused(), /^article message/)
    assert.ok(await isAtLong())
    await ann.context.setOffline(true)
    await write(page, 'Written offline')
    await page.locator('.pending').waitFor()
    await press('Take back')
    assert.match(await focused(), /^textarea/)
    await ann.close()
  })

  test('a long message that is shown whole stays where it is', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeSealedRoom(page, space.origin)
    await write(page, `A long one ${'and on '.repeat(600)}`)
    for (const text of ['One', 'Two', 'Three']) await write(page, text)
    const long = message(page, 'A long one')
    const bottom = () => long.evaluate((element) => element.getBoundingClientRect().bottom)
    await message(page, 'Three').waitFor()
    await button(page, 'Show all').scrollIntoViewIfNeeded()
    const before = await bottom()
    await button(page, 'Show all').click()
    await button(page, 'Show all').waitFor({ state: 'detached' })
    assert.ok(await long.evaluate((element) => element === document.activeElement))
    assert.equal(await bottom(), before)
    await ann.close()
  })
})
