import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { PHONE } from './testing/phone.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeListedRoom, newVisitor } from './testing/visitor.ts'

describe('rooms that are kept on a device', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
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
  const keptRooms = (page: Page) => page.getByRole('region', { name: 'Rooms on this device' })

  /** A room whose owner is the visitor, who has opened the list of its people. */
  async function makeRoom(page: Page, { isKept }: { isKept: boolean }): Promise<void> {
    await page.goto('about:blank')
    await makeListedRoom(page, space.origin)
    if (isKept) await keep(page)
    await button(page, 'People').first().click()
    await page.getByLabel('Invite somebody').waitFor()
  }

  async function keep(page: Page): Promise<void> {
    await button(page, 'More').click()
    await page.getByText('This list also names some of the other members.').waitFor()
    await button(page, 'Keep on this device').click()
    await button(page, 'Forget this room').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  /** Somebody who answers an invitation, and is let in. */
  async function letIn(page: Page, name: string): Promise<void> {
    await page.getByLabel('Invite somebody').fill(name)
    await page.keyboard.press('Enter')
    await button(page, `Show link for ${name}`).click()
    const link = await page.getByLabel(`Invitation for ${name}`).inputValue()
    const guest = await newVisitor(browser)
    await guest.page.goto(link)
    await guest.page.getByLabel('Your name').fill(name)
    await button(guest.page, 'Answer the invitation').click()
    await button(page, `Let in ${name}`).click()
    await button(page, `Remove ${name}`).waitFor()
    await guest.close()
  }

  test('each with a list is called by the others on it, as this device saw them at the latest visit', async () => {
    const ann = await newVisitor(browser, { reducedMotion: 'reduce' })
    const { page } = ann
    await makeRoom(page, { isKept: true })
    await letIn(page, 'Grace')
    await makeRoom(page, { isKept: false })
    for (const name of ['Bob', 'Cem', 'Dina', 'Eve']) await letIn(page, name)
    const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }))
    assert.ok(!stored.includes('Dina'), 'nothing of a room that is not kept')
    await page.keyboard.press('Escape')
    await keep(page)
    await makeRoom(page, { isKept: true })
    const home = async () => {
      await page.goto('about:blank')
      await page.goto(`${space.origin}/space`)
    }
    await home()
    const names = keptRooms(page).getByRole('link')
    assert.deepEqual(await names.allTextContents(), ['Room', 'Room with Bob, Cem, Dina and 1 other', 'Room with Grace'])
    // Rooms of one name are told apart by the minute of the latest visit.
    for (const text of await keptRooms(page).locator('time').allTextContents()) assert.match(text, /^\S+ \d\d:\d\d$/)
    await assertAccessible(page, 'the list')
    // The names are those of the latest visit: here, after somebody was removed.
    await names.nth(2).click()
    await button(page, 'People').first().click()
    await button(page, 'Remove Grace').click()
    await button(page, 'Remove it').click()
    await button(page, 'Remove Grace').waitFor({ state: 'detached' })
    await home()
    assert.deepEqual(await names.allTextContents(), ['Room', 'Room', 'Room with Bob, Cem, Dina and 1 other'])
    await button(page, 'Forget Room with Bob, Cem, Dina and 1 other').click()
    await button(page, 'Forget it').click()
    await page.getByText('Room with Bob, Cem, Dina and 1 other is forgotten on this device').waitFor({ state: 'attached' })
    assertNoTrouble(ann)
    await ann.close()
  })

  test('with text twice as large on a phone, their names, those of members and the form for invitations have the width of the page', async () => {
    const ann = await newVisitor(browser, PHONE)
    const { page } = ann
    const enlarge = () => page.evaluate(`document.documentElement.style.fontSize = '200%'`)
    await makeRoom(page, { isKept: true })
    await letIn(page, 'Grace')
    await enlarge()
    const grace = await page.locator('.person', { hasText: 'Grace' }).boundingBox()
    assert.ok(grace && grace.width > PHONE.viewport.width / 2, `${grace?.width} px`)
    const sheet = await page.evaluate<number>(`document.querySelector('.sheet-body').scrollWidth`)
    assert.ok(sheet <= PHONE.viewport.width, `${sheet} px`)
    await page.keyboard.press('Escape')
    await button(page, 'More').click()
    await page.getByRole('dialog').getByRole('link', { name: 'Start page' }).click()
    await keptRooms(page).waitFor()
    await enlarge()
    const width = (await keptRooms(page).locator('.person').boundingBox())?.width ?? 0
    assert.ok(width > PHONE.viewport.width / 2, `${width} px`)
    await ann.close()
  })

  for (const [kind, label] of [
    ['whose clients seal its lines', 'Anyone with the link'],
    ['with a title', 'People with the link, and agents'],
    ['with a list', 'Only people on a list'],
  ] as const)
    test(`a room ${kind} has the name that its visitor gives it, on this device alone`, async () => {
      const ann = await newVisitor(browser, PHONE)
      const { page } = ann
      await page.goto(`${space.origin}/space`)
      await page.getByLabel(label).check()
      if (kind === 'with a title') await page.getByLabel('Title').fill('Quay')
      await button(page, 'Make the room').click()
      await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
      const title = kind === 'with a title' ? 'Quay' : 'Room'
      const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true, includeHidden: true }).waitFor()
      await heading(title)
      await button(page, 'More').click()
      const field = page.getByLabel('Name of the room, for this browser only')
      await button(page, 'Keep on this device').waitFor()
      assert.equal(await field.count(), 0)
      await button(page, 'Keep on this device').click()
      await field.fill('  Harbour \u202E crew ')
      await assertAccessible(page, 'the panel')
      await field.press('Enter')
      await heading('Harbour crew')
      await page.getByText('The room is now called Harbour crew').waitFor({ state: 'attached' })
      await page.waitForFunction(() => document.title === 'Harbour crew · Space')
      // A later visit keeps the name, and nobody else gets it.
      const link = page.url()
      const ben = await newVisitor(browser)
      await ben.page.goto(link)
      if (kind !== 'with a list') await ben.page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
      await ben.close()
      await page.goto('about:blank')
      await page.goto(link)
      await heading('Harbour crew')
      await page.goto('about:blank')
      await page.goto(`${space.origin}/space`)
      const named = keptRooms(page).getByRole('link', { name: 'Harbour crew', exact: true })
      await named.waitFor()
      const hint = keptRooms(page).getByText('To name a room, open it and choose More.')
      assert.equal(await hint.count(), 0)
      await named.click()
      await button(page, 'More').click()
      assert.equal(await field.inputValue(), 'Harbour crew')
      // Without a name, it is called as before.
      await field.fill('')
      await button(page, 'Name the room').click()
      await heading(title)
      await page.goto('about:blank')
      await page.goto(`${space.origin}/space`)
      await keptRooms(page).getByRole('link', { name: title, exact: true }).waitFor()
      assert.equal(await hint.count(), title === 'Room' ? 1 : 0)
      await page.goto(link)
      await button(page, 'More').click()
      await field.fill('Crew')
      await field.press('Enter')
      await button(page, 'Forget this room').click()
      await page.getByText('Crew is forgotten on this device').waitFor({ state: 'attached' })
      assert.ok(!(await page.evaluate(() => JSON.stringify({ ...localStorage }))).includes('Crew'))
      assert.ok(!ann.sent.some(({ url, body }) => /harbour|crew/i.test(url + body)), 'no request has the name')
      assertNoTrouble(ann)
      await ann.close()
    })
})
