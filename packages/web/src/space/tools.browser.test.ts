import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import jsqr from 'jsqr'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { formatRetraction } from './room/retraction.ts'
import { startSpace, type TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeRoom, message, newVisitor, write } from './testing/visitor.ts'
import { saying } from './testing/writings.ts'

describe('what a visitor can do with a room', { skip: skipWithoutChromium, timeout: 300_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  const open = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const said = (page: Page, text: string) =>
    page.locator('[role=status] p', { hasText: text }).first().waitFor({ state: 'attached' })

  test('a guest takes a name, for one room or for all of the device; others see that it is a guest’s', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const { link } = await makeRoom(ann.page, space)
    await open(ann.page, 'Change name')
    await ann.page.getByLabel('Name', { exact: true }).fill('ann@example.com')
    await open(ann.page, 'Save name')
    await ann.page.getByText('A name must not contain @').waitFor()
    await ann.page.getByLabel('Name', { exact: true }).fill('Ann Lee')
    await ann.page.getByLabel('In this room').check()
    await open(ann.page, 'Save name')
    await said(ann.page, 'You write as Ann Lee')
    await assertAccessible(ann.page, 'the name')
    await ann.page.keyboard.press('Escape')
    assert.match((await ann.page.locator('.writing-as').textContent()) ?? '', /You write as Ann Lee \(guest\)/)
    await write(ann.page, 'Hello')
    await bob.page.goto(link)
    await message(bob.page, 'Hello').waitFor()
    assert.match(
      (await message(bob.page, 'Hello').getAttribute('aria-label')) ?? '',
      /^Ann Lee \(guest\), unverified guest, [A-Z][a-z]+ [A-Z][a-z]+ \S{11}, /,
    )
    // Sealed, and of this room alone. Base64url contains each short word sooner or later, but no space.
    assert.ok(!(await ann.page.evaluate(() => JSON.stringify({ ...localStorage }))).includes('Ann Lee'))
    await makeRoom(ann.page, space)
    assert.doesNotMatch((await ann.page.locator('.writing-as').textContent()) ?? '', /Ann/)
    await open(ann.page, 'Change name')
    await ann.page.getByLabel('Name', { exact: true }).fill('Anna')
    await ann.page.getByLabel('In all rooms on this device').check()
    await open(ann.page, 'Save name')
    await said(ann.page, 'You write as Anna')
    await makeRoom(ann.page, space)
    await ann.page.locator('.writing-as', { hasText: 'Anna (guest)' }).waitFor()
    for (const visitor of [ann, bob]) {
      assertNoTrouble(visitor)
      await visitor.close()
    }
  })

  test('who has signed in is not offered to retract what the guest wrote, which nobody would hide', async () => {
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    const retract = (text: string) => message(ann.page, text).getByRole('button', { name: 'Retract message' })
    await write(ann.page, 'By a guest')
    await retract('By a guest').waitFor({ state: 'attached' })
    await open(ann.page, 'More')
    await ann.page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(ann.page, 'ann@example.com')
    await write(ann.page, 'By an account')
    await retract('By an account').waitFor({ state: 'attached' })
    assert.equal(await message(ann.page, 'By a guest').count(), 1)
    assert.equal(await retract('By a guest').count(), 0)
    await open(ann.page, 'More')
    await ann.page.getByRole('button', { name: 'Sign out' }).click()
    await retract('By a guest').waitFor({ state: 'attached' })
    assert.equal(await retract('By an account').count(), 0)
    await ann.close()
  })

  test('a message is copied, and retracted by its author alone: hidden for everyone, also on the next visit', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const secret = await makeRoom(ann.page, space)
    await bob.page.goto(secret.link)
    await write(ann.page, 'Too much')
    await message(bob.page, 'Too much').waitFor()
    await message(bob.page, 'Too much').hover()
    await message(bob.page, 'Too much').getByRole('button', { name: 'Copy message' }).click()
    assert.equal(await bob.page.evaluate(() => navigator.clipboard.readText()), 'Too much')
    assert.equal(await message(bob.page, 'Too much').getByRole('button', { name: 'Retract message' }).count(), 0)
    // Forged: of another guest, and of an agent.
    const id = ((await message(ann.page, 'Too much').getAttribute('id')) ?? '').slice(2)
    const forged = saying(formatRetraction(id))
    await space.add(secret, [{ ...forged, message: { ...forged.message, reply_to: id } }])
    await message(bob.page, 'atrium.retract').waitFor()
    assert.equal(await message(bob.page, 'Too much').count(), 1)
    // With the keyboard alone.
    await message(ann.page, 'Too much').focus()
    await ann.page.keyboard.press('c')
    await said(ann.page, 'Copied')
    await ann.page.keyboard.press('Tab')
    assert.equal(await ann.page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Retract message')
    await ann.page.keyboard.press('Enter')
    await ann.page.getByText('Its stored line remains').waitFor()
    assert.equal(await ann.page.evaluate(() => document.activeElement?.textContent), 'Keep it')
    await assertAccessible(ann.page, 'asking')
    await ann.page.keyboard.press('Escape')
    assert.equal(await ann.page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Retract message')
    await ann.page.keyboard.press('Enter')
    await ann.page.getByRole('button', { name: 'Retract it' }).click()
    for (const { page } of [ann, bob]) {
      await page.getByText('Retracted by its author. The stored line remains.').waitFor()
      await page.getByText(/retracted a message\.$/).waitFor()
      assert.equal(await page.locator('.text', { hasText: 'Too much' }).count(), 0)
    }
    await said(bob.page, 'retracted a message')
    await bob.page.reload()
    await bob.page.getByText('Retracted by its author. The stored line remains.').waitFor()
    // The stored line is there for whoever checks.
    await open(bob.page, 'Protection')
    await bob.page.locator('[data-check=shown].proved').waitFor()
    await assertAccessible(bob.page, 'retracted')
    for (const visitor of [ann, bob]) {
      assertNoTrouble(visitor)
      await visitor.close()
    }
  })

  test('that a room could not be kept is no longer said once another tab has kept it', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeRoom(page, space, 'Quay')
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException('no place', 'QuotaExceededError')
      }
    })
    await open(page, 'More')
    await open(page, 'Keep on this device')
    const problem = page.locator('section', { has: page.locator('#kept') }).getByRole('alert')
    await problem.waitFor()
    const other = await ann.context.newPage()
    await other.goto(page.url())
    await open(other, 'More')
    await open(other, 'Keep on this device')
    await page.getByRole('button', { name: 'Forget this room' }).waitFor()
    assert.equal(await problem.count(), 0)
    await ann.close()
  })

  test('a room is kept on the device only when told so, and forgotten one by one or all at once', async () => {
    const ann = await newVisitor(browser)
    const stored = () => ann.page.evaluate(() => JSON.stringify({ ...localStorage }))
    const rooms = []
    for (const title of ['Quay', 'Loft', 'Attic']) {
      const { mk } = await makeRoom(ann.page, space, title)
      assert.ok(!(await stored()).includes(mk))
      await open(ann.page, 'More')
      await ann.page.getByText('everyone who uses this browser can open the room').waitFor()
      await open(ann.page, 'Keep on this device')
      await said(ann.page, 'The room is kept on this device')
      assert.ok((await stored()).includes(mk))
      rooms.push(mk)
    }
    await open(ann.page, 'Forget this room')
    assert.ok(!(await stored()).includes(rooms[2]!))
    await ann.page.goto(`${space.origin}/space`)
    const list = ann.page.getByRole('region', { name: 'Rooms on this device' })
    await list.waitFor()
    assert.deepEqual(await list.getByRole('link').allTextContents(), ['Loft', 'Quay'])
    await assertAccessible(ann.page, 'the list')
    await list.getByRole('link', { name: 'Quay' }).click()
    await ann.page.getByRole('heading', { name: 'Quay' }).waitFor()
    await ann.page.goto(`${space.origin}/space`)
    // A room's link may be nowhere else.
    await list.getByRole('button', { name: 'Forget Quay' }).click()
    await ann.page.keyboard.press('Enter')
    assert.equal(await list.getByRole('link').count(), 2, 'the focus was on "Keep it"')
    await list.getByRole('button', { name: 'Forget Quay' }).press('Enter')
    await assertAccessible(ann.page, 'asked')
    await list.getByRole('button', { name: 'Forget it' }).click()
    assert.deepEqual(await list.getByRole('link').allTextContents(), ['Loft'])
    await list.getByRole('button', { name: 'Forget all' }).click()
    assert.equal(await list.getByRole('link').count(), 1)
    await list.getByRole('group', { name: 'Forget all rooms?' }).getByRole('button', { name: 'Forget all' }).click()
    await list.waitFor({ state: 'detached' })
    for (const mk of rooms) assert.ok(!(await stored()).includes(mk))
    assertNoTrouble(ann)
    await ann.close()
  })

  test('the owner changes the title, everyone sees and hears it, and nobody else can', async (t) => {
    if (!space.guestsOwnRooms) return t.skip('a guest owns no room here')
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const { link } = await makeRoom(ann.page, space, 'First')
    await bob.page.goto(link)
    await bob.page.getByRole('heading', { name: 'First' }).waitFor()
    await open(ann.page, 'More')
    await ann.page.getByLabel('The room’s title').fill('Second <b>')
    await ann.page.keyboard.press('Enter')
    for (const { page } of [ann, bob]) {
      await page.getByRole('heading', { name: 'Second <b>', level: 1 }).waitFor()
      await said(page, 'The room is now called Second <b>')
    }
    await open(bob.page, 'More')
    await bob.page.getByRole('heading', { name: 'Take it with you' }).waitFor()
    assert.equal(await bob.page.getByLabel('The room’s title').count(), 0)
    for (const visitor of [ann, bob]) {
      assertNoTrouble(visitor)
      await visitor.close()
    }
  })

  test('the link is a QR code that a camera reads, in light and dark, and is shared by the device', async () => {
    const ann = await newVisitor(browser)
    await ann.context.addInitScript('navigator.share = (what) => { window.shared = what; return Promise.resolve() }')
    const { link } = await makeRoom(ann.page, space, 'Quay')
    await open(ann.page, 'Share')
    const dialog = ann.page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Share…' }).click()
    assert.deepEqual(await ann.page.evaluate('window.shared'), { title: 'Quay', url: link })
    // Its code is fetched until it is there.
    let fetched = 0
    await ann.page.route('**/assets/qr-image-*', (route) => (fetched++ === 0 ? route.abort() : route.fallback()))
    await dialog.getByRole('button', { name: 'Show QR code' }).click()
    const code = dialog.getByRole('img', { name: 'QR code of the room’s link' })
    for (const colorScheme of ['light', 'dark'] as const) {
      await ann.page.emulateMedia({ colorScheme })
      const { data, info } = await sharp(await code.screenshot())
        .ensureAlpha()
        .raw()
        .toBuffer({ resolveWithObject: true })
      const found = (jsqr as unknown as typeof jsqr.default)(Uint8ClampedArray.from(data), info.width, info.height)
      assert.equal(found?.data, link, colorScheme)
      await assertAccessible(ann.page, colorScheme)
    }
    assert.equal(fetched, 2)
    assertNoTrouble(ann)
    await ann.close()
  })

  test('on a wide screen panels stand beside the conversation, which stays usable', async () => {
    const ann = await newVisitor(browser, { viewport: { width: 1440, height: 900 } })
    await makeRoom(ann.page, space)
    await write(ann.page, 'Hello')
    await open(ann.page, 'People')
    const panel = ann.page.getByRole('dialog', { name: 'People' })
    await panel.waitFor()
    const [left, right] = await Promise.all([ann.page.locator('.room-main').boundingBox(), panel.boundingBox()])
    assert.ok(left!.x + left!.width <= right!.x + 1 && right!.x + right!.width === 1440, JSON.stringify([left, right]))
    await write(ann.page, 'With the panel open')
    await message(ann.page, 'With the panel open').waitFor()
    assert.equal(await panel.isVisible(), true)
    await assertAccessible(ann.page, 'docked')
    // On a narrower screen it is a sheet over the room. When the screen is wide again, it docks again.
    await ann.page.setViewportSize({ width: 1000, height: 900 })
    await ann.page.waitForFunction(() => document.querySelector('dialog')?.matches(':modal'))
    await ann.page.setViewportSize({ width: 1440, height: 900 })
    await ann.page.waitForFunction(() => document.querySelector('dialog')?.matches(':not(:modal)[open]'))
    await open(ann.page, 'Protection')
    await ann.page.getByRole('dialog', { name: 'What protects this room' }).waitFor()
    assert.equal(await ann.page.getByRole('dialog').count(), 1)
    await ann.page.keyboard.press('Escape')
    await ann.page.getByRole('dialog').waitFor({ state: 'detached' })
    assertNoTrouble(ann)
    await ann.close()
  })

  test('who cannot see the room hears that it opened, who writes, what fails and that the connection is back', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const secret = await makeRoom(ann.page, space, 'Quay')
    await said(ann.page, 'Quay, no messages')
    await bob.page.goto(secret.link)
    await bob.page.getByRole('heading', { name: 'The room is ready' }).waitFor()
    await write(bob.page, 'One')
    await said(bob.page, 'Message sent')
    await said(ann.page, 'writes here for the first time')
    await space.add(secret, [saying('## **Two**')])
    await said(ann.page, 'Scribe, agent: Two')
    await ann.context.setOffline(true)
    await ann.page.getByText('You are offline.').waitFor()
    await ann.context.setOffline(false)
    await said(ann.page, 'Connected again')
    if (space.breakWith) {
      await ann.context.route('**/space', async (route) => {
        if (route.request().postDataJSON()?.op !== 'turn') return route.continue()
        await route.fulfill({ status: 413, json: { error: 'payload_too_large', reason: 'text' } })
      })
      await write(ann.page, 'Refused')
      await said(ann.page, 'Not sent.')
    }
    await ann.close()
    await bob.close()
  })
})
