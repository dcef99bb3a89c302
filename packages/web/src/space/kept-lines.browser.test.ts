import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { callSpace } from '@atrium/room-client/call-space'
import { policyRecord, turnRecord } from '@atrium/room-client/line-reader'
import { newRoomSecret } from '@atrium/room-client/new-room-secret'
import { deriveClientKeys, sealClientLine } from '@atrium/sealing/client-sealed'
import { lineHash } from '@atrium/sealing/node-lines'
import { placeLine } from '@atrium/sealing/signed-request'
import type { Browser, Page } from 'playwright-core'
import { eventually } from '../../../../tests/support/remote-agents.ts'
import { skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { type ReadPage, timeOfWorker, waitForBlocks, watchReads } from './testing/kept-blocks.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeSealedRoom, message, newVisitor, write } from './testing/visitor.ts'

describe('lines that this device has opened before', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
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

  test('5,000 lines are opened with progress, and the second visit asks for none of them', async (t) => {
    const ann = await newVisitor(browser)
    const secret = await makeSealedRoom(ann.page, space.origin)
    await ann.close()
    await space.fillSealed!(secret, 5_000)
    const bob = await newVisitor(browser)
    const { page } = bob
    const all = () =>
      page.waitForFunction(() => document.querySelectorAll('.message').length === 5_000, undefined, { timeout: 60_000 })
    const visit = async () => {
      await page.goto(secret.link)
      await message(page, '4999:').waitFor({ timeout: 60_000 })
      const openMs = await page.evaluate(() => performance.now())
      await all()
      return { openMs: Math.round(openMs), allMs: Math.round(await page.evaluate(() => performance.now())) }
    }
    let first: object = {}
    const time = await timeOfWorker(page, space.origin, async () => (first = await visit()))
    assert.ok(time.workerMs < 5 * time.verifyMs, `${JSON.stringify(time)}: opening costs little besides the signatures`)
    const text = await waitForBlocks(page, Math.ceil(5_001 / 128))
    assert.ok(!text.includes('harbour') && !text.includes(secret.mk), 'what is kept is sealed')
    await page.goto('about:blank')
    const answers = await watchReads(page)
    const second = await visit()
    assert.deepEqual(
      answers.flatMap(({ lines }) => lines),
      [],
    )
    t.diagnostic(JSON.stringify({ first, second, ...time }))
    // The next message continues what was kept.
    await write(page, 'And one more')
    await shown(page, 'And one more')
    await page.locator('.pending').waitFor({ state: 'detached' })
    assertNoTrouble(bob)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await bob.close()
  })

  const rewritten: Record<string, (answer: ReadPage) => ReadPage> = {
    'with other lines up to there': (answer) => ({ ...answer, etag: answer.etag.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')) }),
    'with fewer lines': (answer) => ({ ...answer, lines: [], count: answer.count - 1 }),
  }
  for (const [how, replace] of Object.entries(rewritten)) {
    test(`a service that comes back ${how} is named, and nothing of the cache is shown`, async () => {
      const ann = await newVisitor(browser)
      await makeSealedRoom(ann.page, space.origin)
      await write(ann.page, 'One')
      await shown(ann.page, 'One')
      await waitForBlocks(ann.page, 1)
      await watchReads(ann.page, replace)
      await ann.page.reload()
      await ann.page.getByRole('heading', { name: 'This history cannot be trusted' }).waitFor()
      await ann.page
        .getByText(/Line \d \((end|rewritten)\)\. All earlier lines that are shown have passed every check\.$/)
        .waitFor()
      assert.equal(await ann.page.locator('.message').count(), 0)
      // Where the operator has explained it, Ann can begin anew.
      await ann.page.unrouteAll({ behavior: 'ignoreErrors' })
      await ann.page.getByRole('button', { name: 'Forget what this device has checked' }).click()
      await shown(ann.page, 'One')
      await ann.close()
    })
  }

  test('a service that has lost the room for a moment, and comes back with fewer lines, is named', async () => {
    const ann = await newVisitor(browser)
    await makeSealedRoom(ann.page, space.origin)
    await write(ann.page, 'One')
    await shown(ann.page, 'One')
    await waitForBlocks(ann.page, 1)
    await ann.page.goto('about:blank')
    const answers: object[] = []
    await ann.page.route('**/space', async (route, request) => {
      if (!request.postData()?.includes('"op":"read"')) return route.fallback()
      answers.push(request)
      if (answers.length === 1) return route.fulfill({ status: 404, json: { error: 'not_found', reason: 'room' } })
      const { sinceCount } = request.postDataJSON() as { sinceCount: number }
      const response = await route.fetch()
      const { lines } = (await response.json()) as ReadPage
      const [first = ''] = lines
      const etag = createHash('sha256').update(first).digest('base64url')
      return route.fulfill({ json: { lines: sinceCount === 0 ? [first] : [], count: 1, etag } })
    })
    await ann.page.goBack()
    await ann.page.getByRole('heading', { name: 'This history cannot be trusted' }).waitFor()
    await ann.page.getByText(/Line \d \(rewritten\)/).waitFor()
    await ann.close()
  })

  test('a link with another key to a room of this name does not make the device forget what it has read', async () => {
    const ann = await newVisitor(browser)
    const { room, link } = await makeSealedRoom(ann.page, space.origin)
    await write(ann.page, 'One')
    await shown(ann.page, 'One')
    await waitForBlocks(ann.page, 1)
    const headsSeen = () => ann.page.evaluate(() => Object.entries(localStorage).filter(([key]) => key.includes('/seen')))
    await ann.page.waitForFunction(() => Object.keys(localStorage).some((key) => key.includes('/seen')))
    const seen = await headsSeen()
    await ann.page.goto('about:blank')
    const { sealed } = await callSpace({ url: `${space.origin}/space` }, { op: 'sealed', room })
    const [first = ''] = sealed.split('\n')
    // A service that takes part shows another room at the other link, and then fewer lines of the first one.
    const other = newRoomSecret()
    const keys = await deriveClientKeys({ room, mk: other.mk })
    const foreign = placeLine(await sealClientLine(keys, { content: policyRecord }), { seq: 0 })
    const [content, prev] = [turnRecord({ id: 'elsewhere', text: 'Elsewhere' }), lineHash(foreign)]
    const said = placeLine(await sealClientLine(keys, { seen: { seq: 0, hash: prev }, content }), { seq: 1, prev })
    await ann.page.route('**/space', async (route, request) => {
      if (!request.postData()?.includes('"op":"read"')) return route.fallback()
      const { sinceCount } = request.postDataJSON() as { sinceCount: number }
      const lines = (await route.fetch()).ok() ? [first] : [foreign, said]
      return route.fulfill({ json: { lines: lines.slice(sinceCount), count: lines.length, etag: lineHash(lines.at(-1)!) } })
    })
    await ann.page.goto(link.replace(/~.*$/, `~${other.mk}`))
    await ann.page.getByLabel('Message', { exact: true }).waitFor()
    await waitForBlocks(ann.page, 2)
    await shown(ann.page, 'Elsewhere')
    await eventually(async () => JSON.stringify(await headsSeen()) !== JSON.stringify(seen), 'what is shown there is seen')
    // The panel compares with the end that was seen last.
    for (const [key, head] of seen) assert.equal(new Map(await headsSeen()).get(key), head)
    await ann.page.goto('about:blank')
    await ann.page.goto(link)
    await ann.page.getByText(/Line 2 \(rewritten\)/).waitFor()
    await ann.page.unrouteAll({ behavior: 'ignoreErrors' })
    // What is forgotten is both.
    await ann.page.getByRole('button', { name: 'Forget what this device has checked' }).click()
    await shown(ann.page, 'One')
    await waitForBlocks(ann.page, 1)
    await ann.close()
  })

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const keptLinks = (page: Page) => page.evaluate(() => localStorage.getItem('atrium.space.rooms') ?? '')

  test('a link with another key to a room of this name takes no place on the list of rooms, and is kept and forgotten by itself', async () => {
    const ann = await newVisitor(browser)
    const { room, mk, link } = await makeSealedRoom(ann.page, space.origin)
    await write(ann.page, 'One')
    await shown(ann.page, 'One')
    await waitForBlocks(ann.page, 1)
    await press(ann.page, 'More')
    await press(ann.page, 'Keep on this device')
    await ann.page.goto('about:blank')
    const other = newRoomSecret()
    const foreign = placeLine(await sealClientLine(await deriveClientKeys({ room, mk: other.mk }), { content: policyRecord }), {
      seq: 0,
    })
    await ann.page.route('**/space', async (route, request) => {
      const { op, sinceCount = 0 } = (request.postDataJSON() ?? {}) as { op?: string; sinceCount?: number }
      if (op !== 'read' || (await route.fetch()).ok()) return route.fallback()
      return route.fulfill({ json: { lines: [foreign].slice(sinceCount), count: 1, etag: lineHash(foreign) } })
    })
    await ann.page.goto(link.replace(/~.*$/, `~${other.mk}`))
    await ann.page.getByRole('heading', { name: 'The room is ready' }).waitFor()
    await press(ann.page, 'More')
    await ann.page.getByRole('button', { name: 'Keep on this device' }).waitFor()
    assert.ok((await keptLinks(ann.page)).includes(mk) && !(await keptLinks(ann.page)).includes(other.mk))
    await press(ann.page, 'Keep on this device')
    assert.ok((await keptLinks(ann.page)).includes(mk) && (await keptLinks(ann.page)).includes(other.mk))
    await press(ann.page, 'Forget this room')
    assert.ok((await keptLinks(ann.page)).includes(mk) && !(await keptLinks(ann.page)).includes(other.mk))
    await press(ann.page, 'Keep on this device')
    await ann.page.goto(`${space.origin}/space`)
    const items = ann.page.getByRole('region', { name: 'Rooms on this device' }).getByRole('listitem')
    await items.nth(1).waitFor()
    const foreignItem = items.filter({ has: ann.page.locator(`a[href$="~${other.mk}"]`) })
    await foreignItem.getByRole('button', { name: /^Forget / }).click()
    await press(ann.page, 'Forget it')
    assert.ok((await items.getByRole('link').getAttribute('href'))?.endsWith(`~${mk}`))
    // What was read of the room that is still kept: without it, a history that was rewritten would pass.
    await ann.page.unrouteAll({ behavior: 'ignoreErrors' })
    const answers = await watchReads(ann.page)
    await items.getByRole('link').click()
    await shown(ann.page, 'One')
    assert.ok(answers.every(({ lines }) => lines.length === 0))
    await ann.page.unrouteAll({ behavior: 'ignoreErrors' })
    await ann.close()
  })

  test('a list of rooms that is full says so, and loses no room for another one', async () => {
    const ann = await newVisitor(browser)
    await makeSealedRoom(ann.page, space.origin)
    const fill = (count: number) =>
      ann.page.evaluate(
        (secrets) => {
          const rooms = secrets.map((secret, i) => ({
            ...secret,
            kind: 'classic',
            title: `Room ${i}`,
            at: new Date().toISOString(),
          }))
          localStorage.setItem('atrium.space.rooms', JSON.stringify(rooms))
        },
        Array.from({ length: count }, newRoomSecret),
      )
    const full = ann.page.getByRole('alert').getByText('The list of rooms on this device is full')
    await fill(200)
    await ann.page.reload()
    await press(ann.page, 'More')
    const before = await keptLinks(ann.page)
    await press(ann.page, 'Keep on this device')
    await full.waitFor()
    assert.equal(await keptLinks(ann.page), before)
    await fill(199)
    await press(ann.page, 'Keep on this device')
    await ann.page.getByRole('button', { name: 'Forget this room' }).waitFor()
    assert.equal(await full.count(), 0)
    // The room that would take the place of this one has none either.
    const kept = await keptLinks(ann.page)
    const url = ann.page.url()
    await press(ann.page, 'Make the new room')
    await full.waitFor()
    assert.deepEqual([ann.page.url(), await keptLinks(ann.page)], [url, kept])
    assertNoTrouble(ann)
    await ann.close()
  })

  test('a message that the service only says it has stored stays on this device', async () => {
    const ann = await newVisitor(browser)
    await makeSealedRoom(ann.page, space.origin)
    await write(ann.page, 'One')
    await shown(ann.page, 'One')
    await ann.page.route('**/space', async (route, request) => {
      if (!request.postData()?.includes('"op":"append"')) return route.fallback()
      return route.fulfill({ json: { ok: true, seq: 1, etag: 'A'.repeat(43), count: 2 } })
    })
    await write(ann.page, 'Never stored')
    await ann.page.locator('.pending.sent', { hasText: 'Never stored' }).waitFor()
    await ann.page.unrouteAll({ behavior: 'ignoreErrors' })
    await ann.page.reload()
    await shown(ann.page, 'Never stored')
    await ann.page.locator('.pending').waitFor({ state: 'detached' })
    await ann.close()
  })

  test('forgetting the room drops its lines, and a browser that stores nothing reads from the beginning', async () => {
    const ann = await newVisitor(browser)
    const { link } = await makeSealedRoom(ann.page, space.origin)
    await write(ann.page, 'Something to forget')
    await shown(ann.page, 'Something to forget')
    await waitForBlocks(ann.page, 1)
    await ann.page.getByRole('button', { name: 'More', exact: true }).click()
    await ann.page.getByRole('button', { name: 'Keep on this device' }).click()
    await ann.page.getByRole('button', { name: 'Forget this room' }).click()
    await waitForBlocks(ann.page, 0)
    const bob = await newVisitor(browser)
    await bob.context.addInitScript("Object.defineProperty(globalThis, 'indexedDB', { get() { throw new Error('off') } })")
    await bob.page.goto(link)
    await shown(bob.page, 'Something to forget')
    await Promise.all([ann.close(), bob.close()])
  })
})
