import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { HOSTILE_TEXTS } from '../testing/hostile-values.ts'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { assertFitsPhone, PHONE } from './testing/phone.ts'
import { startSpace, type TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeRoom, message, newVisitor, write } from './testing/visitor.ts'

describe('the app for everyone', { skip: skipWithoutChromium, timeout: 300_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  /** Goes through every screen and panel there is. */
  async function visitAll(page: Page, look: (what: string) => Promise<void>): Promise<void> {
    await page.goto(`${space.origin}/space`)
    await look('start')
    await page.getByLabel('People on a list, and agents').check()
    await page.getByLabel('Their e-mail addresses').fill('nobody')
    await look('start with a list')
    const secret = await makeRoom(page, space, 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft')
    await look('an empty room')
    await space.fill(secret, 40)
    await write(page, `A link https://example.com/${'x'.repeat(300)} and a word ${'y'.repeat(300)}`)
    await message(page, 'A link').waitFor()
    await message(page, '0:').first().focus()
    await page.keyboard.press('r')
    await write(page, 'أراكم غدًا عند الغروب')
    await message(page, 'أراكم').waitFor()
    await look('a room')
    for (const [name, sign] of [
      ['Share', 'Copy link'],
      ['People', 'Who has written'],
      ['Protection', 'Check again'],
      ['More', 'Take it with you'],
    ] as const) {
      await page.getByRole('button', { name, exact: true }).click()
      await page.getByRole('dialog').getByText(sign).waitFor()
      await look(name)
      if (name === 'More' && space.guestsOwnRooms) {
        await page.getByRole('button', { name: 'Remove…' }).click()
        await look('removing')
        // The first one answers the question.
        await page.keyboard.press('Escape')
      }
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.context().setOffline(true)
    await write(page, 'Offline')
    await page.getByText('Waiting to be sent').waitFor()
    await look('offline')
    await page.context().setOffline(false)
    await page.getByText('Waiting to be sent').waitFor({ state: 'detached' })
    await page.goto(`${space.origin}/space#cut`)
    await page.getByRole('heading', { name: 'incomplete' }).waitFor()
    await look('a cut link')
  }

  test('the name of a room is readable with text twice as large on a phone', async () => {
    const ann = await newVisitor(browser, PHONE)
    await ann.page.goto(`${space.origin}/space`)
    await makeRoom(ann.page, space, 'Plans for the summer')
    const name = ann.page.getByRole('heading', { name: 'Plans for the summer' })
    const width = async () => (await name.boundingBox())?.width ?? 0
    assert.ok((await width()) > 100, 'before')
    await ann.page.evaluate(`document.documentElement.style.fontSize = '200%'`)
    assert.ok((await width()) > 200, `${await width()} px`)
    assert.equal(await ann.page.evaluate(`document.querySelector('.scroller').scrollWidth`), PHONE.viewport.width)
    await ann.page.getByRole('button', { name: 'More', exact: true }).click()
    const title = ann.page.getByRole('textbox', { name: 'The room’s title' })
    assert.ok(((await title.boundingBox())?.width ?? 0) > 200, 'the field of the title')
    await ann.context.close()
  })

  test('a panel whose code is there already keeps the focus', async () => {
    const ann = await newVisitor(browser)
    await ann.page.goto(`${space.origin}/space`)
    await makeRoom(ann.page, space, 'Panels')
    for (const time of ['first', 'second']) {
      await ann.page.getByRole('button', { name: 'Protection', exact: true }).click()
      await ann.page.getByRole('dialog').getByText('Check again').waitFor()
      await ann.page.waitForTimeout(200)
      const isInside = await ann.page.evaluate<boolean>(`document.querySelector('dialog').contains(document.activeElement)`)
      assert.ok(isInside, `the focus is in the panel, the ${time} time`)
      await ann.page.keyboard.press('Escape')
      await ann.page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await ann.close()
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe finds nothing on any screen, ${colorScheme}`, async () => {
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

  test('all of a room is printed, or else all of the panel that is open', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    const secret = await makeRoom(page, space)
    await space.fill(secret, 100)
    await message(page, '99:').waitFor()
    const countPages = async () => (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0
    assert.ok((await countPages()) >= 4, 'the messages')
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor'), 'rgb(255, 255, 255)')
    assert.equal(await page.getByRole('button').count(), 0)
    await page.emulateMedia({ media: null })
    await page.getByRole('button', { name: 'Protection', exact: true }).click()
    await page.getByRole('dialog').getByText('Check again').waitFor()
    assert.ok((await countPages()) >= 2, 'what protects the room')
    await page.emulateMedia({ media: 'print' })
    assert.ok(!(await message(page, '99:').isVisible()))
    assertNoTrouble(ann)
    await ann.close()
  })

  test('all of it can be done with the keyboard alone', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    const { keyboard } = page
    const focused = () =>
      page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '')
    const tabTo = async (wanted: string | RegExp) => {
      for (let i = 0; i < 30; i++) {
        await keyboard.press('Tab')
        const here = await focused()
        const outline = await page.evaluate(() => {
          const element = document.activeElement!
          return getComputedStyle(element).outlineStyle !== 'none' || element.matches('.message, textarea, [type=radio]')
        })
        assert.ok(outline, `one sees where one is: ${here}`)
        if (typeof wanted === 'string' ? here.trim() === wanted : wanted.test(here)) return
      }
      assert.fail(`no ${wanted} in reach`)
    }
    await page.goto(`${space.origin}/space`)
    await page.getByRole('button', { name: 'Make the room' }).waitFor()
    // The first choice of who may come in; the third has a title.
    await keyboard.press('Tab')
    await keyboard.press('Tab')
    await keyboard.press('ArrowDown')
    await keyboard.press('ArrowDown')
    await keyboard.press('Tab')
    await keyboard.type('By keyboard')
    await tabTo('Make the room')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
    // One can write at once.
    await page.waitForFunction(() => document.activeElement?.id === 'message')
    await keyboard.type('First')
    await keyboard.press('Enter')
    await message(page, 'First').waitFor()
    await keyboard.type('Second https://example.com')
    await keyboard.press('Enter')
    await message(page, 'Second').waitFor()
    await keyboard.press('ArrowUp')
    await keyboard.press('ArrowUp')
    assert.match(await focused(), /^You/)
    assert.equal(await page.evaluate(() => document.activeElement?.querySelector('.text')?.textContent), 'First')
    await keyboard.press('r')
    await keyboard.type('A reply')
    await keyboard.press('Enter')
    await message(page, 'A reply').locator('.quote').waitFor()
    await keyboard.press('ArrowUp')
    await keyboard.press('ArrowUp')
    await keyboard.press('Tab')
    assert.equal(await focused(), 'https://example.com')
    await keyboard.press('Escape')
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'message')
    // The focus moves into a panel, around in it, and back. On a wide screen, the panel is beside the conversation.
    await page.setViewportSize({ width: 1000, height: 720 })
    await page.locator('.head-button').first().focus()
    await tabTo('People')
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    assert.equal(await focused(), 'People')
    for (let i = 0; i < 4; i++) await keyboard.press('Tab')
    assert.ok(
      await page.evaluate(() => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null),
    )
    await keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await focused(), 'People')
    // Whoever sees the room can write and go through the messages, also if the next frame comes late.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 10_000)
    await page.reload()
    await message(page, 'A reply').waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'message')
    await keyboard.press('ArrowUp')
    await keyboard.press('ArrowUp')
    assert.match((await page.locator('.message:focus .text').textContent()) ?? '', /^Second/)
    await keyboard.press('Escape')
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'message')
    await page.clock.resume()
    assertNoTrouble(ann)
    await ann.close()
  })

  test('whatever is typed into any field, nothing of it runs, and no stranger is asked for anything', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const texts = HOSTILE_TEXTS.map((text) => text.replace(/[\0]/g, '').toWellFormed().slice(0, 4_000)).filter(
      (text) => text.trim() !== '',
    )
    assert.ok(texts.length >= 30)
    const titles = texts.map((text) => text.replace(/\s+/g, ' ').slice(0, 200)).filter((text) => text.trim() !== '')
    for (const title of titles.slice(0, 8)) {
      await makeRoom(ann.page, space, title)
      assert.equal((await ann.page.locator('h1').textContent())?.trim(), title.trim())
    }
    const secret = await makeRoom(ann.page, space, titles[8])
    await bob.page.goto(secret.link)
    for (const text of texts) {
      const reply = ann.page.locator('.message .reply').last()
      if (await reply.count()) await reply.evaluate((button) => (button as HTMLElement).click())
      await write(ann.page, text)
    }
    await bob.page.waitForFunction((count) => document.querySelectorAll('.message').length === count, texts.length)
    const hrefs = await bob.page
      .locator('.message a')
      .evaluateAll((links) => links.map((link) => [(link as HTMLAnchorElement).protocol, (link as HTMLAnchorElement).rel]))
    for (const [protocol, rel] of hrefs) assert.ok(/^https?:$/.test(protocol!) && rel === 'noopener noreferrer')
    await bob.page.getByRole('button', { name: 'People', exact: true }).click()
    await bob.page.keyboard.press('Escape')
    await ann.page.goto(`${space.origin}/space`)
    await ann.page.getByLabel('People on a list, and agents').check()
    for (const text of texts) await ann.page.getByLabel('Their e-mail addresses').fill(text)
    await ann.page.goto(`${space.origin}/space?code=${encodeURIComponent(texts[7]!)}&state=${encodeURIComponent(texts[0]!)}`)
    await ann.page.getByText('was not started in this tab').waitFor()
    for (const text of texts) await ann.page.goto(`${space.origin}/space#${text}.${text}`)
    assertNoTrouble(ann)
    assertNoTrouble(bob)
    await ann.close()
    await bob.close()
  })

  test('5,000 messages are there within seconds, and scroll with time to spare in every frame', async () => {
    const ann = await newVisitor(browser)
    const secret = await makeRoom(ann.page, space)
    await space.fill(secret, 5_000)
    await ann.close()
    const bob = await newVisitor(browser)
    const { page } = bob
    await page.goto(secret.link)
    // The newest first, long before all are there.
    await message(page, '4999:').waitFor({ timeout: 15_000 })
    await page.waitForFunction(() => document.querySelectorAll('.message').length === 5_000, undefined, { timeout: 30_000 })
    const cdp = await bob.context.newCDPSession(page)
    // Measures the main thread's own time, so that other load on the machine does not count.
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
    const busyMs = async () => {
      const { metrics } = await cdp.send('Performance.getMetrics')
      return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN)
    }
    const before = await busyMs()
    const frames = await page.evaluate(async () => {
      const scroller = document.querySelector('.scroller')!
      for (let frame = 0; frame < 200; frame++) {
        scroller.scrollTop -= 150
        await new Promise(requestAnimationFrame)
      }
      return 200
    })
    const perFrameMs = ((await busyMs()) - before) / frames
    // A quarter of the frame is left, also while other tests share the caches of the processor.
    assert.ok(perFrameMs < 12, `${perFrameMs.toFixed(1)} ms of 16.7`)
    // From end to beginning in one press, and back.
    await page.locator('.message').last().focus()
    await page.keyboard.press('Home')
    assert.match(await page.evaluate(() => document.activeElement?.querySelector('.text')?.textContent ?? ''), /^0:/)
    await message(page, '0:').first().waitFor()
    await page.getByRole('button', { name: 'Newest' }).click()
    // One more message costs one message, not five thousand.
    const atRest = await busyMs()
    await space.fill(secret, 1)
    await page.waitForFunction(() => document.querySelectorAll('.message').length === 5_001)
    const oneMore = (await busyMs()) - atRest
    assert.ok(oneMore < 200, `${oneMore.toFixed(0)} ms`)
    assertNoTrouble(bob)
    await bob.close()
  })
})
