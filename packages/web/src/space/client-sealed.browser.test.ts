import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Entry } from '@atrium/room-client/space-ops'
import { deriveClientKeys, sealClientLine } from '@atrium/sealing/client-sealed'
import type { Browser, Page } from 'playwright-core'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeSealedRoom, newVisitor, write } from './testing/visitor.ts'

describe('rooms whose lines the clients seal', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startRealSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  const shown = (page: Page, text: string) => page.locator('.message', { hasText: text }).first().waitFor()

  test('two people talk in a room that the form makes unasked, and no request has its key or a word of it', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const { room, mk, link } = await makeSealedRoom(ann.page, space.origin)
    await bob.page.goto(link)
    await write(ann.page, 'Are the lamps lit?')
    await shown(bob.page, 'Are the lamps lit?')
    await bob.page.locator('.message', { hasText: 'lamps' }).getByRole('button', { name: 'Reply' }).click()
    await write(bob.page, 'All of them')
    await shown(ann.page, 'All of them')
    await bob.page.reload()
    await shown(bob.page, 'All of them')
    await shown(bob.page, 'Are the lamps lit?')
    for (const { sent } of [ann, bob]) {
      assert.ok(sent.some(({ body }) => body.includes(room)))
      const secrets = [mk, 'lamps', 'All of them'].flatMap((text) => [text, Buffer.from(text).toString('base64url')])
      for (const { url, body } of sent) for (const secret of secrets) assert.ok(!`${url}${body}`.includes(secret))
    }
    // What needs the key at the service is not offered.
    await ann.page.getByRole('button', { name: 'People', exact: true }).click()
    assert.equal(await ann.page.getByRole('button', { name: 'Invite an agent' }).count(), 0)
    assertNoTrouble(ann)
    assertNoTrouble(bob)
    await Promise.all([ann.close(), bob.close()])
  })

  test('the panel proves what a browser can prove, and that the service never gets the key', async () => {
    const ann = await newVisitor(browser)
    await makeSealedRoom(ann.page, space.origin)
    await write(ann.page, 'Something to be sealed')
    await shown(ann.page, 'Something to be sealed')
    await ann.page.getByRole('button', { name: 'Protection', exact: true }).click()
    await ann.page.getByRole('button', { name: 'Check again' }).waitFor()
    const found = await ann.page
      .locator('.check')
      .evaluateAll((items) => items.map((item) => [item.getAttribute('data-check'), item.className.replace('check ', '')]))
    const results = Object.fromEntries(found) as Record<string, string>
    for (const id of ['bytes', 'recipients', 'opens', 'chain', 'seen', 'shown']) assert.equal(results[id], 'proved', id)
    assert.equal(results['key'], 'trusted')
    assert.equal(results['memory'], undefined)
    assertNoTrouble(ann)
    await ann.close()
  })

  test('a page that is shown again after it may have slept reads anew, although its held request was never answered', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const { link } = await makeSealedRoom(ann.page, space.origin)
    const isHeld = Promise.withResolvers<void>()
    await bob.page.route('**/space', async (route, request) => {
      if (!/"waitMs":[1-9]/.test(request.postData() ?? '')) return route.fallback()
      isHeld.resolve()
    })
    await bob.page.goto(link)
    await isHeld.promise
    await write(ann.page, 'While you were away')
    await shown(ann.page, 'While you were away')
    await bob.page.evaluate(() => {
      const show = (hidden: boolean) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
        document.dispatchEvent(new Event('visibilitychange'))
      }
      const { now } = Date
      show(true)
      Date.now = () => now() + 60_000
      show(false)
      Date.now = now
    })
    // Long before the time limit of the request.
    await bob.page.locator('.message', { hasText: 'While you were away' }).waitFor({ timeout: 15_000 })
    await bob.page.unrouteAll({ behavior: 'ignoreErrors' })
    await Promise.all([ann.close(), bob.close()])
  })

  test('a line that the service has altered is named, and nothing after it is shown or written', async () => {
    const ann = await newVisitor(browser)
    const { room, link } = await makeSealedRoom(ann.page, space.origin)
    await write(ann.page, 'One')
    await write(ann.page, 'Two')
    await shown(ann.page, 'Two')
    await space.tamper!(room)
    const bob = await newVisitor(browser)
    await bob.page.goto(link)
    await bob.page.getByRole('heading', { name: 'This history cannot be trusted' }).waitFor()
    await bob.page.getByText(/Line [12] \((chain|sealed)\)/).waitFor()
    assert.equal(await bob.page.locator('.message').count(), 0)
    assert.equal(await bob.page.getByLabel('Message', { exact: true }).count(), 0)
    // Ann's device shows what it has checked itself, and the panel names what the service has now.
    await ann.page.reload()
    await shown(ann.page, 'Two')
    await ann.page.getByRole('button', { name: 'Protection', exact: true }).click()
    await ann.page.locator('.check.failed[data-check=chain]', { hasText: 'This history cannot be trusted' }).waitFor()
    await Promise.all([ann.close(), bob.close()])
  })

  test('the messages before a line of somebody without the key are shown, and where they end, on a phone and in the dark', async () => {
    const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const
    const [ann, bob] = await Promise.all([newVisitor(browser, phone), newVisitor(browser, phone)])
    const { room, link } = await makeSealedRoom(ann.page, space.origin)
    for (const text of ['One', 'Two']) {
      await write(ann.page, text)
      await shown(ann.page, text)
    }
    const foreign = await deriveClientKeys({ room, mk: 'A'.repeat(43) })
    await space.addLines!(room, [await sealClientLine(foreign, { content: 'Three' })])
    const isFound = async (page: Page) => {
      await page.getByRole('heading', { name: 'What was checked ends here' }).waitFor()
      await page.getByText('Line 3 (sealed)').waitFor()
      await shown(page, 'One')
      await shown(page, 'Two')
      assert.equal(await page.getByLabel('Message', { exact: true }).count(), 0)
    }
    await isFound(ann.page)
    await bob.page.goto(link)
    await isFound(bob.page)
    await assertAccessible(bob.page, 'a damaged room')
    if (process.env['SPACE_SCREENSHOTS']) await bob.page.screenshot({ path: `${process.env['SPACE_SCREENSHOTS']}/damaged.png` })
    // The file has the same messages, and says where they end.
    await bob.page.getByRole('button', { name: 'More', exact: true }).click()
    const [download] = await Promise.all([
      bob.page.waitForEvent('download'),
      bob.page.getByRole('button', { name: 'Messages', exact: true }).click(),
    ])
    const file = JSON.parse(await readFile(await download.path(), 'utf8')) as { entries: Entry[]; ends_before: object }
    assert.deepEqual(
      [file.entries.map(({ message }) => message.text), file.ends_before],
      [['One', 'Two'], { seq: 3, problem: 'sealed' }],
    )
    await bob.page
      .getByRole('dialog')
      .getByRole('alert')
      .getByText('All earlier lines that are shown have passed every check.')
      .waitFor()
    // Ann's device has kept what it had checked.
    await ann.page.reload()
    await isFound(ann.page)
    await ann.page.getByRole('button', { name: 'Forget what this device has checked' }).click()
    await isFound(ann.page)
    assertNoTrouble(ann)
    assertNoTrouble(bob)
    await Promise.all([ann.close(), bob.close()])
  })

  test('a script that is not the one that the page names does not run, also one that is loaded later', async () => {
    // The last is imported by the one before.
    for (const name of ['index-', 'protection-sheet-', 'room-device-']) {
      const ann = await newVisitor(browser)
      await ann.page.route(`**/assets/${name}*.js`, async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, body: `${await response.text()}\n;canary()` })
      })
      const blocked = ann.page.waitForEvent('console', (line) => /integrity/i.test(line.text()))
      await ann.page.goto(`${space.origin}/space`)
      if (name !== 'index-') {
        await ann.page.getByRole('button', { name: 'Make the room' }).click()
        await ann.page.getByRole('heading', { name: 'The room is ready' }).waitFor()
        await ann.page.getByRole('button', { name: 'Protection', exact: true }).click()
      }
      await blocked
      assertNoTrouble(ann)
      await ann.page.unrouteAll({ behavior: 'ignoreErrors' })
      await ann.close()
    }
  })

  test('what a later script imports is named by import() beside it: WebKit refuses it otherwise', async () => {
    const page = await (await fetch(`${space.origin}/space`)).text()
    const map = JSON.parse(/<script type="importmap">(.*?)<\/script>/.exec(page)?.[1] ?? '') as { integrity: object }
    const [first = '', ...others] = [/ src="([^"]+)"/.exec(page)?.[1] ?? '', ...Object.keys(map.integrity)].map((path) =>
      path.slice('/space/assets/'.length),
    )
    const later = new Set(others.filter((name) => name !== first && !name.startsWith('line-worker-')))
    const codes = new Map<string, string>()
    for (const name of [first, ...later]) codes.set(name, await (await fetch(`${space.origin}/space/assets/${name}`)).text())
    const named = new Set<string>()
    for (const code of codes.values())
      for (const [together] of code.matchAll(/(?:\bimport\(`[^`]+`\),?)+/g)) {
        const names = new Set([...together.matchAll(/`\.\/([^`]+)`/g)].map(([, name = '']) => name))
        for (const name of names) {
          named.add(name)
          for (const [, imported = ''] of (codes.get(name) ?? '').matchAll(/\b(?:from|import)"\.\/([^"]+)"/g))
            assert.ok(imported === first || names.has(imported), `${together} without ${imported}, which ${name} imports`)
        }
      }
    assert.deepEqual(named, later)
  })
})
