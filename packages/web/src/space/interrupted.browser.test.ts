import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { answerInvitation, openListedRoom } from '../../../client/src/listed-room.ts'
import { parseInvitation } from '../../../room-client/src/answer-invitation.ts'
import { ListedConnection } from '../../../room-client/src/listed-connection.ts'
import { importPairs } from '../../../room-client/src/room-device.ts'
import { newDevice } from '../../../client/src/testing/listed-rooms.ts'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { makeListedRoom, message, newVisitor, write } from './testing/visitor.ts'

describe('a room with a list whose network fails in between', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startRealSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const ready = (page: Page) => page.getByRole('heading', { name: 'The room is ready' }).waitFor()

  test('opens once its code can be fetched', async () => {
    const ann = await newVisitor(browser)
    const link = await makeListedRoom(ann.page, space.origin)
    const page = await ann.context.newPage()
    let failed = 0
    await page.route('**/assets/listed-channel-*', (route) => (failed++ === 0 ? route.abort() : route.fallback()))
    await page.goto(link)
    await ready(page)
    assert.ok(failed > 1)
    await ann.close()
  })

  test('a part of the app that cannot be loaded offers a reload, if the service answers', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, space.origin)
    const [code, panels, config] = ['**/assets/listed-channel-*', '**/assets/{about-sheet,qr-image}-*', '**/space-config']
    let [asked, isAway] = [0, true]
    await page.route(code, (route) => (asked++, route.abort()))
    await page.route(panels, (route) => route.abort())
    await page.route(config, (route) => (isAway ? route.abort() : route.fallback()))
    const missing = page.getByText('A part of this page cannot be loaded.').filter({ visible: true })
    await page.reload()
    await page.getByText('Opening the room…').waitFor()
    while (asked < 3) await page.waitForTimeout(100)
    assert.equal(await missing.count(), 0, 'a reload would lose the page')
    isAway = false
    await missing.waitFor()
    await assertAccessible(page, 'while the room opens')
    await page.unroute(code)
    await ready(page)
    await missing.waitFor({ state: 'detached' })
    // A panel, and what a panel shows.
    await button(page, 'More').click()
    await missing.waitFor()
    await button(page, 'Share').click()
    // Nobody waits for the other panel any more.
    await missing.first().waitFor({ state: 'detached' })
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Show QR code' }).click()
    await dialog.getByText('A part of this page cannot be loaded.').waitFor()
    await Promise.all([
      page.waitForEvent('load'),
      dialog.getByRole('button', { name: 'Reload the page' }).press('Enter', { noWaitAfter: true }),
    ])
    await ready(page)
    await ann.close()
  })

  test('a sign-in in the room that could not be written is written later, without another one', async () => {
    const ann = await newVisitor(browser)
    await makeListedRoom(ann.page, space.origin)
    await button(ann.page, 'More').click()
    await ann.page.getByRole('button', { name: /^Sign in with/ }).click()
    let lost = 0
    await ann.page.route('**/space', (route, request) =>
      request.postData()?.includes('"op":"append"') && ++lost <= 4 ? route.abort() : route.fallback(),
    )
    await space.signIn(ann.page, 'ann@example.com')
    await ready(ann.page)
    while (lost < 4) await ann.page.waitForTimeout(100)
    await write(ann.page, 'Back again')
    await ann.page.locator('.message', { hasText: 'Back again' }).first().waitFor()
    await button(ann.page, 'People').first().click()
    await ann.page.locator('.people li', { hasText: 'ann@example.com, shown by' }).waitFor()
    await ann.close()
  })

  test('is there with those whom it could invite', async () => {
    const ann = await newVisitor(browser)
    await ann.page.goto(`${space.origin}/space`)
    await ann.page.getByLabel('Only people on a list').check()
    await ann.page.getByLabel('Their e-mail addresses').fill('ben@example.com, cy@example.com')
    let appended = 0
    let isDown = true
    await ann.page.route('**/space', (route, request) =>
      isDown && request.postData()?.includes('"op":"append"') && appended++ > 0 ? route.abort() : route.fallback(),
    )
    await button(ann.page, 'Make the room').click()
    await ready(ann.page)
    isDown = false
    // Of the invitation that failed, no text stays.
    await ann.page.waitForFunction(() => Object.keys(localStorage).filter((name) => name.includes('/invitation/')).length === 1)
    await button(ann.page, 'People').first().click()
    await ann.page.getByRole('dialog').getByText('ben@example.com').first().waitFor()
    assert.equal(await ann.page.getByRole('dialog').getByText('cy@example.com').count(), 0)
    await ann.close()
  })

  test('the owner lets in the device that the list has shown, and not one that has answered since', async () => {
    const ann = await newVisitor(browser)
    const link = await makeListedRoom(ann.page, space.origin)
    // While it is held, the page gets nothing new.
    let isHeld = false
    await ann.page.route('**/space', async (route, request) => {
      if (!request.postData()?.includes('"op":"read"')) return route.fallback()
      const response = await route.fetch()
      while (isHeld) await delay(50)
      await route.fulfill({ response })
    })
    const [, room = '', owner = ''] = /#(.+)~~(.+)$/.exec(link) ?? []
    await button(ann.page, 'People').first().click()
    for (const who of ['Grace', 'Linus']) {
      await ann.page.getByLabel('Invite somebody').fill(who)
      await ann.page.keyboard.press('Enter')
      await button(ann.page, `Show link for ${who}`).waitFor()
    }
    const invitationFor = async (who: string) => {
      await button(ann.page, `Show link for ${who}`).click()
      return new URL(await ann.page.getByLabel(`Invitation for ${who}`).inputValue()).hash.slice(1)
    }
    const [toGrace, toLinus] = [await invitationFor('Grace'), await invitationFor('Linus')]
    const more = { spaceUrl: `${space.origin}/space`, audience: space.origin }
    const [one, other] = [await newDevice(), await newDevice()]
    await answerInvitation(toGrace, { ...more, device: one, name: 'Grace' })
    await ann.page.locator('.people li', { hasText: 'Answered by Grace' }).waitFor()
    isHeld = true
    await answerInvitation(toLinus, { ...more, device: one, name: 'Grace' })
    await answerInvitation(toGrace, { ...more, device: other, name: 'Mallory' })
    await button(ann.page, 'Let in Grace').click()
    isHeld = false
    await ann.page.getByRole('alert').filter({ hasText: 'This address was not shown by a sign-in.' }).waitFor()
    await ann.page.locator('.people li', { hasText: 'Answered by Mallory' }).waitFor()
    const stranger = openListedRoom({ ...more, room, owner, device: other })
    await assert.rejects(stranger.read(), { name: 'NotListedError' })
    await ann.page.unrouteAll({ behavior: 'ignoreErrors' })
    await ann.close()
  })

  /** From the first line on, the service does what the page asks for, and its answers are lost, until the page says so. */
  async function loseAnswerTo(page: Page, act: () => Promise<void>): Promise<void> {
    let lost = 0
    await page.route('**/space', async (route, request) => {
      if (lost === 0 && !request.postData()?.includes('"op":"append"')) return route.fallback()
      lost++
      await route.fetch().catch(() => undefined)
      return route.abort()
    })
    await act()
    await page.getByRole('alert').waitFor({ timeout: 60_000 })
    assert.ok(lost > 1)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  }

  /** The field is emptied when the list has the invitation. */
  const isAsked = (page: Page) =>
    page.waitForFunction(() => document.querySelector<HTMLInputElement>('.admit input')?.value === '')
  const keptTexts = (page: Page) =>
    page.evaluate(() => Object.keys(localStorage).filter((name) => name.includes('/invitation/')).length)

  test('an invitation whose answer was lost is there once, also if it is asked for again', async () => {
    const ann = await newVisitor(browser)
    await makeListedRoom(ann.page, space.origin)
    await button(ann.page, 'People').first().click()
    const field = ann.page.getByLabel('Invite somebody')
    await field.fill('Grace')
    await loseAnswerTo(ann.page, () => field.press('Enter'))
    await field.press('Enter')
    await isAsked(ann.page)
    assert.equal(await ann.page.locator('.people li', { hasText: 'Grace' }).count(), 1)
    await button(ann.page, 'Show link for Grace').waitFor()
    assert.equal(await keptTexts(ann.page), 1, 'that of the invitation that was not needed is not kept')
    await ann.close()
  })

  test('an invitation whose answer was lost is not put on the list again after it was taken back or used', async () => {
    const ann = await newVisitor(browser)
    const link = await makeListedRoom(ann.page, space.origin)
    const [, room = '', owner = ''] = /#(.+)~~(.+)$/.exec(link) ?? []
    await button(ann.page, 'People').first().click()
    const field = ann.page.getByLabel('Invite somebody')
    const rows = ann.page.locator('li.invitation', { hasText: 'Grace' })
    const shownLink = async () => {
      await button(ann.page, 'Show link for Grace').click()
      return new URL(await ann.page.getByLabel('Invitation for Grace').inputValue()).hash.slice(1)
    }
    await field.fill('Grace')
    await loseAnswerTo(ann.page, () => field.press('Enter'))
    await button(ann.page, 'Take back the invitation for Grace').click()
    await rows.waitFor({ state: 'detached' })
    // The click waits until the list can be changed again.
    await loseAnswerTo(ann.page, () => button(ann.page, 'Invite').click())
    const used = await shownLink()
    const more = { spaceUrl: `${space.origin}/space`, audience: space.origin }
    await answerInvitation(used, { ...more, device: await newDevice(), name: 'Grace' })
    await button(ann.page, 'Let in Grace').click()
    await button(ann.page, 'Remove Grace').waitFor()
    await rows.waitFor({ state: 'detached' })
    await button(ann.page, 'Invite').click()
    await isAsked(ann.page)
    const second = await shownLink()
    assert.notEqual(second, used)
    const reader = openListedRoom({ ...more, room, owner, device: await importPairs(parseInvitation(used)!.keys) })
    await assert.rejects(reader.read(), { name: 'NotListedError' })
    await answerInvitation(second, { ...more, device: await newDevice(), name: 'Grace on the telephone' })
    await ann.page.locator('.people li', { hasText: 'Answered by Grace on the telephone' }).waitFor()
    await ann.close()
  })

  test('a device whose admission was stored, and its answer lost, is in when the button is pressed again', async () => {
    const ann = await newVisitor(browser)
    await makeListedRoom(ann.page, space.origin)
    await button(ann.page, 'People').first().click()
    await ann.page.getByLabel('Invite somebody').fill('Grace')
    await ann.page.keyboard.press('Enter')
    await button(ann.page, 'Show link for Grace').click()
    const invitation = new URL(await ann.page.getByLabel('Invitation for Grace').inputValue()).hash.slice(1)
    const more = { spaceUrl: `${space.origin}/space`, audience: space.origin }
    await answerInvitation(invitation, { ...more, device: await newDevice(), name: 'Grace' })
    await button(ann.page, 'Let in Grace').waitFor()
    // What the page reads for a change still arrives, and nothing else does: it shows the list as it was.
    let appended = 0
    await ann.page.route('**/space', async (route, request) => {
      const body = request.postData() ?? ''
      if (body.includes('"waitMs"')) return route.abort()
      if (!body.includes('"op":"append"')) return route.fallback()
      await route.fetch()
      if (appended++ === 0) await ann.context.setOffline(true)
      return route.abort()
    })
    await button(ann.page, 'Let in Grace').click()
    await ann.page.getByRole('alert').waitFor({ timeout: 60_000 })
    await ann.context.setOffline(false)
    await button(ann.page, 'Let in Grace').click()
    await button(ann.page, 'Remove Grace').waitFor()
    assert.equal(await ann.page.getByRole('alert').count(), 0)
    await ann.page.unrouteAll({ behavior: 'ignoreErrors' })
    await ann.close()
  })

  test('a line of another device with the id of a message is not taken for that message', async () => {
    const ann = await newVisitor(browser)
    const link = await makeListedRoom(ann.page, space.origin)
    const [, room = '', owner = ''] = /#(.+)~~(.+)$/.exec(link) ?? []
    await button(ann.page, 'People').first().click()
    await ann.page.getByLabel('Invite somebody').fill('Mallory')
    await ann.page.keyboard.press('Enter')
    await button(ann.page, 'Show link for Mallory').click()
    const invitation = new URL(await ann.page.getByLabel('Invitation for Mallory').inputValue()).hash.slice(1)
    const more = { spaceUrl: `${space.origin}/space`, audience: space.origin, name: 'Mallory', device: await newDevice() }
    await answerInvitation(invitation, more)
    await button(ann.page, 'Let in Mallory').click()
    await button(ann.page, 'Remove Mallory').waitFor()
    await ann.page.keyboard.press('Escape')
    // The service keeps the message back, and tells its id to a member, who writes a line of its own with that id.
    const mallory = new ListedConnection({ ...more, room, owner })
    let appended = 0
    await ann.page.route('**/space', async (route, request) => {
      const body = request.postData() ?? ''
      if (!body.includes('"op":"append"')) return route.fallback()
      const { dedupe: id } = JSON.parse(body) as { dedupe: string }
      const turn = { t: 'turn', id, at: new Date().toISOString(), text: 'I agree to everything' }
      await route.fulfill({ json: { ok: true, seq: 99 } })
      if (appended++ === 0) await mallory.append(turn, undefined)
    })
    await write(ann.page, 'I disagree')
    const foreign = message(ann.page, 'I agree to everything')
    await foreign.waitFor()
    await ann.page.locator('.pending.sent', { hasText: 'I disagree' }).waitFor()
    assert.match((await foreign.locator('.byline').textContent()) ?? '', /^Mallory/)
    await ann.page.reload()
    await foreign.waitFor()
    assert.match((await foreign.locator('.byline').textContent()) ?? '', /^Mallory/)
    // It was sent again, and the answer came after the line.
    await ann.page.locator('.pending.sent', { hasText: 'I disagree' }).waitFor()
    assert.equal(appended, 2)
    await ann.page.unrouteAll({ behavior: 'ignoreErrors' })
    await ann.close()
  })

  test('a message is sent again after the worker that opens the lines has failed', async () => {
    const ann = await newVisitor(browser)
    // The page that the held read would bring comes after the one that is read before the message is sealed.
    let isHeld = false
    let reading = 0
    await ann.page.route('**/space', async (route, request) => {
      if (!request.postData()?.includes('"waitMs"')) return route.fallback()
      reading++
      const response = await route.fetch().catch(() => undefined)
      while (isHeld && !ann.page.isClosed()) await delay(50)
      reading--
      return response ? route.fulfill({ response }) : route.abort()
    })
    await ann.page.addInitScript(() => {
      const workers: Worker[] = []
      const { postMessage } = Worker.prototype
      let isDeaf = false
      let dropped = 0
      Worker.prototype.postMessage = function (this: Worker, ...args: Parameters<typeof postMessage>) {
        workers.push(this)
        if (!isDeaf) return postMessage.apply(this, args)
        dropped += Number('page' in args[0])
      } as typeof postMessage
      Object.assign(globalThis, {
        deafen: () => (isDeaf = true),
        droppedPages: () => dropped,
        fail: () => {
          isDeaf = false
          workers.at(-1)?.dispatchEvent(new Event('error'))
        },
      })
    })
    await makeListedRoom(ann.page, space.origin)
    isHeld = true
    while (reading === 0) await delay(50)
    await ann.page.evaluate('deafen()')
    await write(ann.page, 'Still to be sent')
    while (!(await ann.page.evaluate('droppedPages() > 0'))) await delay(50)
    isHeld = false
    await ann.page.evaluate('fail()')
    await ann.page.locator('.message', { hasText: 'Still to be sent' }).waitFor()
    assert.equal(await ann.page.locator('.pending').count(), 0)
    await ann.close()
  })
})
