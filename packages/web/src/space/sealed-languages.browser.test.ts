import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { findCut } from './testing/find-cut.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, newVisitor } from './testing/visitor.ts'
import { ar } from './text/ar.ts'
import { de } from './text/de.ts'
import { en } from './text/en.ts'
import { es } from './text/es.ts'
import { fr } from './text/fr.ts'
import { ja } from './text/ja.ts'

const CATALOGUES = { ar, de, en, es, fr, ja }
const SCREENSHOTS = process.env['SPACE_SCREENSHOTS']

describe('client-sealed rooms in all languages', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startRealSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  for (const [language, t] of Object.entries(CATALOGUES)) {
    test(`no screen is too wide, cuts a text or fails axe at 390 px: ${language}`, async () => {
      const options = { locale: language, viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' } as const
      const [ann, bob] = await Promise.all([newVisitor(browser, options), newVisitor(browser, options)])
      const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })
      const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
      const look = async (page: Page, what: string) => {
        if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/sealed-${language}-${what}.png` })
        assert.deepEqual(await findCut(page), [], what)
        await assertAccessible(page, what)
      }
      const open = async (page: Page, name: string, sign: string) => {
        await button(page, name).first().click()
        await page.getByRole('dialog').getByText(sign).first().waitFor()
        await look(page, name)
      }
      const make = async (choice: string) => {
        await ann.page.goto(`${space.origin}/space`)
        await ann.page.getByLabel(choice).first().check()
        await button(ann.page, t.newRoom.make).click()
        await heading(ann.page, t.messages.emptyTitle).waitFor()
        await look(ann.page, 'empty')
      }

      await make(t.newRoom.listed)
      await open(ann.page, t.room.people, t.sealed.list.members)
      await ann.page.getByLabel(t.sealed.list.invite).fill('Grace')
      await ann.page.keyboard.press('Enter')
      await ann.page.locator('.invitation button[aria-expanded]').click()
      await look(ann.page, 'invitation')
      await bob.page.goto(await ann.page.locator('.invitation input').inputValue())
      await heading(bob.page, t.sealed.invitation.title).waitFor()
      await look(bob.page, 'invited')
      await button(bob.page, t.sealed.invitation.answer).click()
      await heading(bob.page, t.sealed.answered.title).waitFor()
      await look(bob.page, 'answered')
      const stranger = await newVisitor(browser, options)
      await stranger.page.goto(bob.page.url())
      await heading(stranger.page, t.sealed.waiting.title).waitFor()
      await look(stranger.page, 'waiting')
      await stranger.close()
      await ann.page.locator('.invitation .primary').waitFor()
      await look(ann.page, 'answer')
      await ann.page.locator('.invitation .primary').click()
      await ann.page.locator('.invitation').waitFor({ state: 'detached' })
      await look(ann.page, 'let in')
      await bob.page.getByLabel(t.messages.message, { exact: true }).fill('Good evening')
      await bob.page.keyboard.press('Enter')
      await bob.page.locator('.message').waitFor()
      await look(bob.page, 'room')
      const head = bob.page.locator('.room-name p')
      assert.equal(await head.evaluate((one) => one.scrollWidth > one.clientWidth), false, 'the head says who has the key')
      await open(bob.page, t.room.people, t.sealed.list.members)
      await button(bob.page, t.sealed.list.addDevice).click()
      await look(bob.page, 'second device')
      await bob.page.keyboard.press('Escape')
      await open(bob.page, t.room.share, t.share.copy)
      await bob.page.keyboard.press('Escape')
      await open(bob.page, t.room.protection, t.protection.checkAgain)
      await bob.page.keyboard.press('Escape')
      await open(bob.page, t.room.more, t.about.export)
      await bob.page.keyboard.press('Escape')
      await ann.page.locator('.people .small').first().click()
      await ann.page.locator('.confirm').waitFor()
      await look(ann.page, 'asked')
      await ann.page.locator('.confirm .danger').click()
      await heading(bob.page, t.sealed.removed.title).waitFor()
      await look(bob.page, 'removed')

      await make(t.newRoom.anyone)
      assert.match(ann.page.url(), /#[\w-]+~[\w-]+$/)
      await open(ann.page, t.room.share, t.share.copy)
      await ann.page.keyboard.press('Escape')
      await open(ann.page, t.room.protection, t.protection.checkAgain)
      await ann.page.keyboard.press('Escape')
      await open(ann.page, t.room.more, t.sealed.move.title)
      assertNoTrouble(ann)
      assertNoTrouble(bob)
      await Promise.all([ann.close(), bob.close()])
    })
  }
})
