import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { findCut } from './testing/find-cut.ts'
import { addAgent, skipWithoutApi } from './testing/inviting.ts'
import { startSpace, type TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeRoom, newVisitor } from './testing/visitor.ts'
import { ar } from './text/ar.ts'
import { de } from './text/de.ts'
import { en } from './text/en.ts'
import { es } from './text/es.ts'
import { fr } from './text/fr.ts'
import { ja } from './text/ja.ts'

const CATALOGUES = { ar, de, en, es, fr, ja }
const SCREENSHOTS = process.env['SPACE_SCREENSHOTS']

describe('languages', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  const directions = (page: Page) => page.evaluate(() => [document.documentElement.lang, document.documentElement.dir])

  for (const [language, catalogue] of Object.entries(CATALOGUES)) {
    test(`the browser’s language is the app’s: ${language}`, async () => {
      const ann = await newVisitor(browser, { locale: language })
      await ann.page.goto(`${space.origin}/space`)
      await ann.page.getByRole('heading', { name: catalogue.start.title }).waitFor()
      assert.deepEqual(await directions(ann.page), [language, language === 'ar' ? 'rtl' : 'ltr'])
      // Nobody fetches a language that is not shown.
      const fetched = ann.sent.flatMap(({ url }) => /assets\/([a-z]{2})-[^/]*\.js$/.exec(url)?.[1] ?? [])
      assert.deepEqual(fetched, language === 'en' ? [] : [language])
      assertNoTrouble(ann)
      await ann.close()
    })
  }

  test('a language that the app does not have is English, and the choice is kept on the device', async () => {
    const ann = await newVisitor(browser, { locale: 'pt-BR' })
    const { page } = ann
    await makeRoom(page, space, 'Lanterns')
    await page.getByLabel(en.messages.message, { exact: true }).fill('Half a thought')
    await page.getByRole('button', { name: en.room.more }).click()
    await page.getByLabel(en.language).selectOption('ja')
    // The language changes at once without a reload, so that unsent text stays.
    await page.getByRole('heading', { name: ja.about.title }).waitFor()
    assert.deepEqual(await directions(page), ['ja', 'ltr'])
    await page.getByRole('button', { name: ja.close }).click()
    assert.equal(await page.getByLabel(ja.messages.message, { exact: true }).inputValue(), 'Half a thought')
    await page.getByRole('button', { name: ja.messages.send }).click()
    await page.locator('.message', { hasText: 'Half a thought' }).waitFor()
    await page.locator('.message .name', { hasText: ja.authors.you }).waitFor()
    await page.getByRole('button', { name: ja.room.more }).click()
    await page.getByLabel(ja.language).selectOption('ar')
    // Messages that were rendered before are rendered again.
    await page.locator('.message .name', { hasText: ar.authors.you }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: ar.room.share }).waitFor()
    assert.deepEqual(await directions(page), ['ar', 'rtl'])
    assertNoTrouble(ann)
    await ann.close()
  })

  test('a title in a script of the other direction stands where the line below it begins', async () => {
    for (const [locale, title] of [
      ['en-GB', 'ليلة الفوانيس'],
      ['ar', 'Lantern night'],
    ] as const) {
      const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser, { locale })])
      const { link } = await makeRoom(ann.page, space, title)
      await bob.page.goto(link)
      await bob.page.getByRole('heading', { name: title }).waitFor()
      const starts = await bob.page.locator('.room-name :is(h1, p)').evaluateAll((lines) =>
        lines.map((line) => {
          const text = document.createRange()
          text.selectNodeContents(line)
          const { left, right } = text.getBoundingClientRect()
          return Math.round(document.documentElement.dir === 'rtl' ? right : left)
        }),
      )
      assert.equal(starts[0], starts[1], `${locale}: ${title}`)
      await Promise.all([ann.close(), bob.close()])
    }
  })

  test('a language that cannot be fetched leaves the app as it is, and says so', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await page.goto(`${space.origin}/space`)
    await page.route(/\/de-[^/]*\.js$/, (route) => route.abort())
    await page.getByLabel(en.language).selectOption('de')
    await page.getByText(en.languageUnreachable).waitFor()
    assert.equal(await page.getByLabel(en.language).inputValue(), 'en')
    await page.getByLabel(en.language).selectOption('fr')
    await page.getByRole('heading', { name: fr.start.title }).waitFor()
    await ann.close()
    const bob = await newVisitor(browser, { locale: 'de' })
    await bob.page.route(/\/de-[^/]*\.js$/, (route) => route.abort())
    await bob.page.goto(`${space.origin}/space`)
    await bob.page.getByRole('heading', { name: en.start.title }).waitFor()
    await bob.close()
  })

  for (const [language, locale] of [
    ['ar', 'ar-EG'],
    ['de', 'de-DE'],
    ['es', 'es-MX'],
    ['fr', 'fr-CA'],
    ['ja', 'ja-JP'],
  ] as const) {
    for (const width of [390, 1280]) {
      test(`no screen is too wide, cuts a text or fails axe: ${language}, ${width} px`, async () => {
        const ann = await newVisitor(browser, { locale, viewport: { width, height: 844 }, reducedMotion: 'reduce' })
        await visitAll(ann.page, language, async (what) => {
          if (SCREENSHOTS) await ann.page.screenshot({ path: `${SCREENSHOTS}/${language}-${width}-${what}.png` })
          assert.deepEqual(await findCut(ann.page), [], what)
          await assertAccessible(ann.page, what)
        })
        assertNoTrouble(ann)
        await ann.close()
      })
    }
  }

  async function visitAll(page: Page, language: keyof typeof CATALOGUES, look: (what: string) => Promise<void>) {
    const t = CATALOGUES[language]
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const sheet = async (name: string, sign: string) => {
      await button(name).click()
      await page.getByRole('dialog').getByText(sign).first().waitFor()
    }
    await page.goto(`${space.origin}/space`)
    await page.getByLabel(t.newRoom.listed).check()
    await look('start')
    await page.getByLabel(t.newRoom.withAgents).check()
    await button(t.newRoom.make).click()
    await page.getByRole('heading', { name: t.messages.emptyTitle }).waitFor()
    await look('empty')
    const [, room = '', mk = ''] = /#([^.]+)\.(.+)$/.exec(page.url()) ?? []
    await space.fill({ room, mk }, 12)
    await page.locator('.message').first().waitFor()
    await page.locator('.message .reply').last().click()
    await page.getByLabel(t.messages.message, { exact: true }).fill('أراكم غدًا at 20:00, https://example.com/الفوانيس')
    await look('reply')
    await page.keyboard.press('Enter')
    await page.locator('.message', { hasText: 'at 20:00' }).waitFor()
    await look('room')
    await sheet(t.room.share, t.share.copy)
    await look('share')
    await page.keyboard.press('Escape')
    await sheet(t.room.people, t.people.written)
    await look('people')
    await page.keyboard.press('Escape')
    await sheet(t.room.protection, t.protection.checkAgain)
    await look('protection')
    await page.keyboard.press('Escape')
    await sheet(t.room.more, t.about.export)
    if (space.guestsOwnRooms) await page.getByRole('button', { name: t.about.removeButton }).click()
    await look('about')
    // The first one answers the question.
    if (space.guestsOwnRooms) await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    if (!skipWithoutApi) await inviteAgent(page, t, look)
    await page.context().setOffline(true)
    await page.getByText(t.room.link.offline).waitFor()
    await look('offline')
    await page.context().setOffline(false)
    await page.goto(`${space.origin}/space#cut`)
    await page.getByRole('heading', { name: t.start.cutTitle }).waitFor()
    await look('cut')
  }

  async function inviteAgent(page: Page, t: typeof en, look: (what: string) => Promise<void>) {
    space.api!.reset()
    addAgent(space.api!, 'Lamplighter', { price_credits: 11, max_minutes: 90, hosting: 'remote' })
    await page.getByRole('button', { name: t.room.people, exact: true }).click()
    await page.getByRole('button', { name: t.agents.invite }).click()
    await page.locator('.catalog button').click()
    await page.getByRole('heading', { name: t.agents.terms.title }).waitFor()
    await page.getByLabel(t.agents.coupon).fill('cpn_half')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await look('invite')
    await page.keyboard.press('Escape')
  }
})
