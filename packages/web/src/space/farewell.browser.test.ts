import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openClientSealedRoom } from '@atrium/client/client-sealed-room'
import type { Browser, Page } from 'playwright-core'
import { assertAccessible, skipWithoutChromium, startTestBrowser, zoneAtNoon } from '../testing/start-test-browser.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, explained, makeSealedRoom, message, newVisitor, write } from './testing/visitor.ts'

describe('an open client-sealed room that moves', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startRealSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  const shown = (page: Page, text: string) => message(page, text).waitFor()
  const farewell = (page: Page) => page.getByRole('region', { name: 'This room has moved' })
  const composer = (page: Page) => page.getByLabel('Message', { exact: true })

  async function move(page: Page, who: string): Promise<void> {
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByLabel(who).check()
    await page.getByRole('button', { name: 'Make the new room' }).click()
    await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
  }

  test('who has the old link finds the new one, keeps what was begun, and writes nothing more', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const { link } = await makeSealedRoom(ann.page, space.origin)
    await write(ann.page, 'Before')
    await bob.page.goto(link)
    await shown(bob.page, 'Before')
    await composer(bob.page).fill('Half a thought')
    await move(ann.page, 'Everyone who has the old one')
    assert.notEqual(ann.page.url(), link)
    await farewell(bob.page).waitFor()
    await farewell(bob.page).getByText('Half a thought').waitFor()
    await assertAccessible(bob.page, 'farewell')
    assert.equal(await composer(bob.page).count(), 0)
    // The next visit has the farewell from what this device keeps.
    await bob.page.reload()
    await farewell(bob.page).waitFor()
    await shown(bob.page, 'Before')
    await farewell(bob.page).getByRole('link', { name: 'Open the new room' }).click()
    await write(bob.page, 'Here we are')
    await shown(ann.page, 'Here we are')
    assert.equal(bob.page.url(), ann.page.url())
    assertNoTrouble(ann)
    assertNoTrouble(bob)
    await Promise.all([ann.close(), bob.close()])
  })

  test('a link that is given by hand is not in the old room', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const { link } = await makeSealedRoom(ann.page, space.origin)
    await bob.page.goto(link)
    await composer(bob.page).waitFor()
    await move(ann.page, 'Only those to whom you give it')
    await farewell(bob.page).getByText('Ask one of the others').waitFor()
    assert.equal(await farewell(bob.page).getByRole('link').count(), 0)
    await Promise.all([ann.close(), bob.close()])
  })

  test('who leaves the room while the new one is made has written nothing that ends the old one', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const { link } = await makeSealedRoom(ann.page, space.origin)
    await bob.page.goto(link)
    await composer(bob.page).waitFor()
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    await ann.page.route('**/space', async (route) => {
      if (route.request().postData()?.includes('"op":"make"')) await left
      await route.continue()
    })
    await ann.page.getByRole('button', { name: 'More', exact: true }).click()
    const made = ann.page.waitForResponse((res) => res.request().postData()?.includes('"op":"make"') ?? false)
    await ann.page.getByRole('button', { name: 'Make the new room' }).click()
    // On a busy machine, the answer may come before the next frame.
    await ann.page.evaluate(
      'const wait = setTimeout; requestAnimationFrame = () => 0; setTimeout = (run, ms = 0) => wait(run, ms + 500)',
    )
    await ann.page.evaluate(() => void (location.hash = ''))
    await ann.page.getByRole('button', { name: 'Make the room' }).waitFor()
    leave()
    await made
    await ann.page.goto(link)
    await write(ann.page, 'Still here')
    await explained([ann, bob], message(bob.page, 'Still here').or(farewell(bob.page)).first().waitFor())
    assert.equal(await farewell(bob.page).count(), 0)
    assert.equal(ann.sent.filter(({ body }) => body.includes('"op":"append"')).length, 1)
    assert.equal(ann.page.url(), link)
    await Promise.all([ann.close(), bob.close()])
  })

  test('a message that was stored, and its answer lost, is sent, also if a farewell came after it', async () => {
    for (const how of ['comes back', 'goes on'] as const) {
      const bob = await newVisitor(browser)
      const { room, mk, link } = await makeSealedRoom(bob.page, space.origin)
      const { promise: stored, resolve: store } = Promise.withResolvers<void>()
      // Nothing of what the service answers arrives from then on.
      let isAway = false
      await bob.page.route('**/space', async (route, request) => {
        const isMessage = request.postData()?.includes('"op":"append"') ?? false
        if (isMessage && !isAway) await route.fetch()
        isAway ||= isMessage
        if (isMessage) store()
        return isAway ? route.abort() : route.fallback()
      })
      await write(bob.page, 'In time')
      await stored
      const client = openClientSealedRoom({ spaceUrl: `${space.origin}/space`, room, mk, name: 'Ada' })
      await client.move()
      if (how === 'comes back') await bob.page.goto('about:blank')
      await bob.page.unrouteAll({ behavior: 'ignoreErrors' })
      if (how === 'comes back') await bob.page.goto(link)
      await farewell(bob.page).waitFor()
      await shown(bob.page, 'In time')
      assert.equal(await bob.page.locator('.pending').count(), 0, how)
      assert.match((await message(bob.page, 'In time').locator('.byline').textContent()) ?? '', /^You/)
      await bob.close()
    }
  })

  test('what waited to be sent is not sent behind the farewell of another client, and can be copied', async () => {
    const bob = await newVisitor(browser, { timezoneId: zoneAtNoon() })
    const secret = await makeSealedRoom(bob.page, space.origin)
    await write(bob.page, 'Before')
    await shown(bob.page, 'Before')
    await bob.context.setOffline(true)
    await write(bob.page, 'Too late')
    await bob.page.getByText('Waiting to be sent').waitFor()
    const client = openClientSealedRoom({ spaceUrl: `${space.origin}/space`, room: secret.room, mk: secret.mk, name: 'Ada' })
    const next = await client.move()
    await bob.context.setOffline(false)
    await farewell(bob.page).getByText('Ada (guest) wrote today').waitFor()
    await bob.page.locator('.pending', { hasText: 'Not sent. This room has moved.' }).waitFor()
    await bob.page.locator('.pending').getByRole('button', { name: 'Copy message' }).click()
    assert.equal(await bob.page.evaluate(() => navigator.clipboard.readText()), 'Too late')
    assert.deepEqual(
      (await client.read()).map(({ message }) => message.text),
      ['Before'],
    )
    assert.ok((await farewell(bob.page).getByRole('link').getAttribute('href'))?.endsWith(`#${next.room}~${next.mk}`))
    await bob.close()
  })
})
