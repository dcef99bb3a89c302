import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { answerInvitation, parseInvitation } from '@atrium/room-client/answer-invitation'
import { ListedConnection } from '@atrium/room-client/listed-connection'
import { sealRecord } from '@atrium/room-client/listed-lines'
import { ListedReader } from '@atrium/room-client/listed-reader'
import { generateDevicePairs, roomDeviceOf } from '@atrium/room-client/room-device'
import { lineHash } from '@atrium/sealing/node-lines'
import { placeLine } from '@atrium/sealing/signed-request'
import type { Browser, Page } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { type ReadPage, timeOfWorker, waitForBlocks, watchReads } from './testing/kept-blocks.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeListedRoom, message, newVisitor, write } from './testing/visitor.ts'
import { writingsOf } from './testing/writings.ts'

describe('lines of a listed room that this device has opened before', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startRealSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  const row = (page: Page, text: string) => page.locator('.people li', { hasText: text })
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

  /** A member that writes without a browser. Resolves when the owner has let it in. */
  async function letInWriter(page: Page) {
    await button(page, 'People').first().click()
    await page.getByRole('heading', { name: 'On the list' }).waitFor()
    await page.getByLabel('Invite somebody').fill('Grace')
    await page.keyboard.press('Enter')
    await button(page, 'Show link for Grace').click()
    const link = await page.getByLabel('Invitation for Grace').inputValue()
    const text = link.slice(link.indexOf('#') + 1)
    const { room, owner } = parseInvitation(text)!
    const device = await roomDeviceOf(await generateDevicePairs())
    const options = { spaceUrl: `${space.origin}/space`, room, owner, device, name: 'Grace' }
    await answerInvitation(text, options)
    await button(page, 'Let in Grace').click()
    await button(page, 'Remove Grace').waitFor()
    const reader = new ListedReader(options)
    await new ListedConnection(options, reader).read(undefined)
    return { room, device, reader }
  }

  async function fill({ room, device, reader }: Awaited<ReturnType<typeof letInWriter>>, count: number): Promise<void> {
    const { keys } = reader.force!
    let seen = reader.seen!
    const lines: string[] = []
    for (const {
      id,
      message: { text },
    } of writingsOf(count)) {
      const record = { t: 'turn', id, at: new Date().toISOString(), text }
      const line = await sealRecord(keys, { seen, record, device })
      lines.push(line)
      seen = { seq: seen.seq + 1, hash: lineHash(placeLine(line, { seq: seen.seq + 1, prev: seen.hash })) }
    }
    await space.addLines!(room, lines)
  }

  test('5,000 lines are opened in a worker, and the second visit asks for none of them', async (t) => {
    const ann = await newVisitor(browser)
    const { page } = ann
    const link = await makeListedRoom(page, space.origin)
    const writer = await letInWriter(page)
    await page.goto('about:blank')
    await fill(writer, 5_000)
    const all = () =>
      page.waitForFunction(() => document.querySelectorAll('.message').length === 5_000, undefined, { timeout: 60_000 })
    const visit = async () => {
      await page.goto(link)
      await message(page, '4999:').waitFor({ timeout: 60_000 })
      const openMs = await page.evaluate(() => performance.now())
      await all()
      return { openMs: Math.round(openMs), allMs: Math.round(await page.evaluate(() => performance.now())) }
    }
    let first: object = {}
    const time = await timeOfWorker(page, space.origin, async () => (first = await visit()))
    assert.ok(time.workerMs < 8 * time.verifyMs, `${JSON.stringify(time)}: opening costs little besides the signatures`)
    const count = writer.reader.seen!.seq + 1 + 5_000
    // The lines, and the state of the reader.
    const text = await waitForBlocks(page, Math.ceil(count / 128) + 1)
    for (const secret of ['harbour', 'Grace', writer.reader.force!.mk]) assert.ok(!text.includes(secret), secret)
    assert.equal(page.workers().length, 1)
    await page.goto('about:blank')
    const answers = await watchReads(page)
    const second = await visit()
    assert.deepEqual(
      answers.flatMap(({ lines }) => lines),
      [],
    )
    t.diagnostic(JSON.stringify({ first, second, ...time }))
    // What is kept has the lists and the keys, so the owner writes and changes the list.
    await write(page, 'And one more')
    await message(page, 'And one more').waitFor()
    await page.locator('.pending').waitFor({ state: 'detached' })
    await button(page, 'People').first().click()
    await button(page, 'Remove Grace').click()
    await button(page, 'Remove it').click()
    await row(page, 'Grace').waitFor({ state: 'detached' })
    await page.reload()
    await message(page, 'And one more').waitFor()
    assertNoTrouble(ann)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await ann.close()
  })

  const rewritten: Record<string, (answer: ReadPage) => ReadPage> = {
    'with other lines up to there': (answer) => ({ ...answer, etag: answer.etag.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')) }),
    'with fewer lines': (answer) => ({ ...answer, lines: [], count: answer.count - 1 }),
  }
  for (const [how, replace] of Object.entries(rewritten)) {
    test(`a service that comes back ${how} is named, and nothing of the cache is shown`, async () => {
      const ann = await newVisitor(browser)
      await makeListedRoom(ann.page, space.origin)
      await write(ann.page, 'One')
      await message(ann.page, 'One').waitFor()
      await waitForBlocks(ann.page, 2)
      await watchReads(ann.page, replace)
      await ann.page.reload()
      await ann.page.getByRole('heading', { name: 'This history cannot be trusted' }).waitFor()
      await ann.page
        .getByText(/Line \d \((end|rewritten)\)\. All earlier lines that are shown have passed every check\.$/)
        .waitFor()
      assert.equal(await ann.page.locator('.message').count(), 0)
      // A restored backup may undo a removal, which nobody but the owner can repeat.
      await ann.page.getByText('remove them once more').waitFor()
      await ann.page.unrouteAll({ behavior: 'ignoreErrors' })
      await ann.page.getByRole('button', { name: 'Forget what this device has checked' }).click()
      await message(ann.page, 'One').waitFor()
      await ann.close()
    })
  }

  test('a link that names another owner shows nothing of what is kept', async () => {
    const ann = await newVisitor(browser)
    const link = await makeListedRoom(ann.page, space.origin)
    await write(ann.page, 'Only for my own link')
    await message(ann.page, 'Only for my own link').waitFor()
    await waitForBlocks(ann.page, 2)
    await ann.page.goto('about:blank')
    await ann.page.goto(link.replace(/~~.{43}$/, `~~${'A'.repeat(43)}`))
    await ann.page.getByRole('heading', { name: 'This history cannot be trusted' }).waitFor()
    assert.equal(await ann.page.locator('.message').count(), 0)
    await ann.close()
  })
})
