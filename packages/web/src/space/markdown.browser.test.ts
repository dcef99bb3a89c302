import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { INJECTIONS } from './testing/markdown-injections.ts'
import { startSpace, type TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeRoom, newVisitor } from './testing/visitor.ts'
import { saying } from './testing/writings.ts'

const REPORT = `### Tonight
The lamps are lit by **Ann** and *Bob*; see [the plan](https://plan.example/night).

1. ladder
2. matches
   - the long ones

| lamp | where |
|---|---|
| red | \`quay\` |

\`\`\`ts
const lamps = 12 < 40
\`\`\`

> Mind the step.`

describe('what agents write', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  test('is shown as Markdown, also to a screen reader, and code can be copied; people’s text stays as it is', async () => {
    const ann = await newVisitor(browser)
    const secret = await makeRoom(ann.page, space)
    await space.add(secret, [saying(REPORT), saying('**not bold**', { kind: 'anonymous' })])
    const report = ann.page.locator('.message', { hasText: 'Tonight' })
    // Until the code for Markdown is there, the text is shown as written.
    await report.getByRole('heading', { name: 'Tonight' }).waitFor()
    assert.equal(
      (await report.locator('.text').ariaSnapshot()).replace(/\n\s*/g, ' '),
      '- heading "Tonight" [level=2] - paragraph: - text: The lamps are lit by - strong: Ann - text: and - emphasis: Bob - text: ; see - link "the plan": - /url: https://plan.example/night - text: (plan.example). - list: - listitem: ladder - listitem: - text: matches - list: - listitem: the long ones - group "Table": - table: - rowgroup: - row "lamp where": - columnheader "lamp" - columnheader "where" - rowgroup: - row "red quay": - cell "red" - cell "quay": - code: quay - code: const lamps = 12 < 40 - button "Copy code" - blockquote: - paragraph: Mind the step.',
    )
    await report.getByRole('button', { name: 'Copy code' }).click()
    assert.equal(await ann.page.evaluate(() => navigator.clipboard.readText()), 'const lamps = 12 < 40')
    assert.equal(await ann.page.locator('.text', { hasText: '**not bold**' }).locator('strong').count(), 0)
    for (const colorScheme of ['light', 'dark'] as const) {
      await ann.page.emulateMedia({ colorScheme })
      await assertAccessible(ann.page, colorScheme)
    }
    assertNoTrouble(ann)
    await ann.close()
  })

  test('messages whose code is missing ask for it together, and together for the service, ever less often', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    const secret = await makeRoom(page, space)
    await space.add(
      secret,
      Array.from({ length: 20 }, (_, n) => saying(`**Lamp ${n}**`)),
    )
    let [code, config, asked] = [0, 0, 0]
    await page.route('**/assets/markdown-text-*', (route) => (code++, route.fulfill({ status: 404 })))
    await page.route('**/space-config', (route) => {
      // The page has asked for its configuration itself.
      if (++config === 2) asked = code
      return route.fallback()
    })
    const missing = page.getByText('A part of this page cannot be loaded.').filter({ visible: true })
    await page.reload()
    await missing.waitFor()
    assert.equal(await page.getByText('**Lamp').count(), 20)
    // The code is also fetched ahead once.
    assert.ok(asked <= 3, `${asked} requests for the code`)
    while (code < asked + 2) await page.waitForTimeout(100)
    assert.ok(config <= 2 + code - asked, `${config} requests for the configuration`)
    await page.unroute('**/assets/markdown-text-*')
    await missing.waitFor({ state: 'detached' })
    assert.equal(await page.locator('.message strong', { hasText: 'Lamp' }).count(), 20)
    await ann.close()
  })

  test('the mark of a list item is inside of the message, whatever the directions of the page and of the text', async () => {
    const maker = await newVisitor(browser)
    const secret = await makeRoom(maker.page, space)
    await maker.close()
    await space.add(secret, [saying('1. lamps\n2. ropes\n\n- واحد\n- two')])
    for (const locale of ['en-GB', 'ar']) {
      const ann = await newVisitor(browser, { locale })
      await ann.page.goto(secret.link)
      const items = ann.page.locator('.markdown li')
      await items.last().waitFor()
      const room = await items.evaluateAll((all) =>
        all.map((item) => {
          const [own, text] = [item.getBoundingClientRect(), item.closest('.text')!.getBoundingClientRect()]
          return getComputedStyle(item).direction === 'rtl' ? text.right - own.right : own.left - text.left
        }),
      )
      assert.deepEqual(room, [24, 24, 24, 24], locale)
      await ann.close()
    }
  })

  test(`${INJECTIONS.length} injections run nothing, load nothing and make no element beyond the safe ones`, async () => {
    const ann = await newVisitor(browser)
    const secret = await makeRoom(ann.page, space)
    const short = INJECTIONS.map((text) => text.toWellFormed().replaceAll('\0', ' ')).filter(
      ({ length }) => length > 0 && length < 8_000,
    )
    assert.ok(short.length >= 40)
    await space.add(
      secret,
      short.map((text) => saying(text)),
    )
    await ann.page.waitForFunction((count) => document.querySelectorAll('.message').length >= count, short.length)
    const names = await ann.page.evaluate(() => [
      ...new Set([...document.querySelectorAll('.markdown *')].map(({ localName }) => localName)),
    ])
    const safe =
      'a bdi blockquote button code div em h2 h3 h4 h5 h6 hr li ol p path pre s strong svg table tbody td th thead tr ul'
    assert.deepEqual(
      names.filter((name) => !safe.split(' ').includes(name)),
      [],
    )
    const links = await ann.page.evaluate(() =>
      [...document.querySelectorAll<HTMLAnchorElement>('.markdown a')].map(
        ({ protocol, rel, username }) => `${protocol} ${rel} ${username}`,
      ),
    )
    assert.deepEqual(
      [...new Set(links)].filter((link) => !/^https?: noopener noreferrer $/.test(link)),
      [],
    )
    assertNoTrouble(ann)
    await ann.close()
  })
})
