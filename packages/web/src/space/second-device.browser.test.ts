import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeListedRoom, message, newVisitor, openList, write } from './testing/visitor.ts'

describe('a second device of a member', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
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
  const row = (page: Page, text: string) => page.locator('.people li', { hasText: text })

  test('it shows its card, the first device names it, and the owner lets it in with one press', async () => {
    const [ann, desk, tram] = await Promise.all([newVisitor(browser), newVisitor(browser), newVisitor(browser)])
    await makeListedRoom(ann.page, space.origin)
    await openList(ann.page)
    await ann.page.getByLabel('Invite somebody').fill('Grace')
    await ann.page.keyboard.press('Enter')
    await button(ann.page, 'Show link for Grace').click()
    await desk.page.goto(await ann.page.getByLabel('Invitation for Grace').inputValue())
    await desk.page.getByLabel('Your name').fill('Grace')
    await button(desk.page, 'Answer the invitation').click()
    await button(ann.page, 'Let in Grace').click()
    await write(desk.page, 'From my desk')
    await message(ann.page, 'From my desk').waitFor()

    // The link of the room is no secret: the new device opens it, and is told what to do.
    await tram.page.goto(desk.page.url())
    await tram.page.getByRole('heading', { name: 'Is this a second device of yours?' }).waitFor()
    await tram.page.getByText('choose “Add a device of yours”').waitFor()
    await assertAccessible(tram.page, 'a device that has not seen the first one')
    await button(desk.page, 'People').first().click()
    await button(desk.page, 'Add a device of yours').click()
    await assertAccessible(desk.page, 'the link for a second device')
    await tram.page.goto(await desk.page.getByLabel('Link for your second device').inputValue())
    await tram.page.reload()
    await tram.page.getByRole('heading', { name: 'Is this a second device of yours?' }).waitFor()
    await assertAccessible(tram.page, 'a device that is not on the list')
    const link = await tram.page.getByLabel('Link for your first device').inputValue()
    await button(tram.page, 'Show QR code').click()
    await tram.page.getByRole('img').first().waitFor()
    const code = await tram.page.getByText(/^Code of this device/).textContent()
    assert.match(code ?? '', /[\w-]{4}(?: [\w-]{4}){3}/, 'nobody can make another key with the same code')
    if (process.env['SPACE_SCREENSHOTS'])
      await tram.page.screenshot({ path: `${process.env['SPACE_SCREENSHOTS']}/second-device.png` })

    // Another member who sees it can do nothing with it.
    await ann.page.goto(link)
    await ann.page.getByRole('heading', { name: 'This link is for another device' }).waitFor()
    await assertAccessible(ann.page, 'the second device of somebody else')
    await ann.page.goBack()
    await button(ann.page, 'People').first().click()

    const other = await desk.context.newPage()
    await other.goto(link)
    await other.getByRole('heading', { name: 'Add your second device' }).waitFor()
    assert.equal(await other.getByText(/^Code of this device/).textContent(), code)
    await assertAccessible(other, 'naming a second device')
    if (process.env['SPACE_SCREENSHOTS']) await other.screenshot({ path: `${process.env['SPACE_SCREENSHOTS']}/name-device.png` })
    await button(other, 'This is my device').click()
    await other.getByRole('heading', { name: 'The device was named' }).waitFor()

    await row(ann.page, 'second device, named by').getByText('second device, named by').waitFor()
    await assertAccessible(ann.page, 'a second device that waits')
    if (process.env['SPACE_SCREENSHOTS'])
      await ann.page.screenshot({ path: `${process.env['SPACE_SCREENSHOTS']}/second-device-waits.png` })
    await row(ann.page, 'second device, named by').getByRole('button', { name: 'Let in Grace' }).click()
    await message(tram.page, 'From my desk').waitFor()
    await write(tram.page, 'From the tram')
    await message(ann.page, 'From the tram').waitFor()

    // Who is removed leaves with it.
    await row(ann.page, 'invited as')
      .filter({ hasNotText: 'second device' })
      .getByRole('button', { name: 'Remove Grace' })
      .click()
    await ann.page.getByText('These devices, which it has named, are removed with it: Grace.').waitFor()
    await button(ann.page, 'Remove it').click()
    await row(ann.page, 'second device').waitFor({ state: 'detached' })
    await tram.page.getByText('The service no longer lets this device in').waitFor()
    await desk.page.getByText('The service no longer lets this device in').waitFor()
    for (const visitor of [ann, desk, tram]) assertNoTrouble(visitor)
    await Promise.all([ann, desk, tram].map((visitor) => visitor.close()))
  })

  test('a link with another card than one for this room names nothing', async () => {
    const ann = await newVisitor(browser)
    await ann.page.goto(`${space.origin}/space#lantern~~${'A'.repeat(43)}~x.y.z`)
    await ann.page.getByRole('heading', { name: 'This link is incomplete' }).waitFor()
    await ann.close()
  })
})
