import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { buildClientFile } from '../../../space/build/client-file.ts'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeSealedRoom, newVisitor, type Visitor, write } from './testing/visitor.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

describe('the app in one file, opened from a disk', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
  let browser: Browser
  let space: TestSpace
  let other: TestSpace
  let folder: string
  let file: string

  before(async () => {
    ;[browser, space, other] = await Promise.all([startTestBrowser(), startRealSpace(), startRealSpace()])
    folder = await mkdtemp(join(tmpdir(), 'space client '))
    await writeFile(join(folder, 'space.html'), await buildClientFile(root))
    file = pathToFileURL(join(folder, 'space.html')).href
  })

  after(async () => {
    await browser?.close()
    await Promise.all([space?.stop(), other?.stop(), folder && rm(folder, { recursive: true, force: true })])
  })

  const shown = (page: Page, text: string) => page.locator('.message', { hasText: text }).first().waitFor()
  /** Apart from the file itself, which is no stranger. */
  const assertCalm = ({ trouble }: Visitor) =>
    assert.deepEqual(
      trouble.filter((what) => !what.startsWith('stranger: file:') && !what.startsWith('stranger: blob:null/')),
      [],
    )

  async function open(page: Page, text: string): Promise<void> {
    await page.goto(file)
    await page.getByLabel('Link of a room, or address').fill(text)
    await page.getByRole('button', { name: 'Open', exact: true }).click()
  }

  test('somebody with the file talks with somebody at the page of the service, in a client-sealed room', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const { link, mk } = await makeSealedRoom(ann.page, space.origin)
    await open(bob.page, link)
    await bob.page.getByRole('heading', { name: 'The room is ready' }).waitFor()
    await write(bob.page, 'From a file')
    await shown(ann.page, 'From a file')
    await write(ann.page, 'From the page')
    await shown(bob.page, 'From the page')
    await bob.page.reload()
    await shown(bob.page, 'From the page')
    for (const { url, body } of bob.sent.filter(({ url }) => url.startsWith('http'))) {
      assert.ok(url.startsWith(`${space.origin}/`) && !`${url}${body}`.includes(mk))
    }
    // The link that is shared is the one for everybody.
    await bob.page.getByRole('button', { name: 'Share', exact: true }).click()
    assert.equal(await bob.page.getByLabel('The room’s link').inputValue(), link)
    await bob.page.keyboard.press('Escape')
    await bob.page.getByRole('button', { name: 'Protection', exact: true }).click()
    await bob.page.getByRole('button', { name: 'Check again' }).waitFor()
    assert.equal(await bob.page.locator('.check.failed').count(), 0)
    assert.ok((await bob.page.locator('.check.proved[data-check=attest]').count()) === 1)
    assertNoTrouble(ann)
    assertCalm(bob)
    await Promise.all([ann.close(), bob.close()])
  })

  test('it makes a room at the service that one names, and remembers rooms of several services', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    const { link } = await makeSealedRoom(page, other.origin)
    await open(page, space.origin)
    await page.getByText(`New rooms are stored at ${space.origin}`).waitFor()
    await assertAccessible(page, 'the start of the file')
    await page.getByRole('button', { name: 'Make the room' }).click()
    await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
    assert.ok(page.url().startsWith(`${file}#${space.origin}/space#`), page.url())
    await write(page, 'Here')
    await shown(page, 'Here')
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('button', { name: 'Keep on this device' }).click()
    await open(page, link)
    await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
    await write(page, 'There')
    await shown(page, 'There')
    // Back to the first service, by the list of rooms.
    await page.goto(file)
    await page.locator('.kept-rooms a').click()
    await shown(page, 'Here')
    await open(page, 'https://rooms.example/space#cut')
    await page.getByText('neither the whole link of a room').waitFor()
    assertCalm(ann)
    await ann.close()
  })
})
