import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { answerInvitation } from '../../../client/src/listed-room.ts'
import { newDevice } from '../../../client/src/testing/listed-rooms.ts'
import { skipWithoutChromium, startTestBrowser, zoneAtNoon } from '../testing/start-test-browser.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeListedRoom, makeRoom, makeSealedRoom, newVisitor, openList, write } from './testing/visitor.ts'

describe('what is pressed twice, or again after a failure', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let browser: Browser
  let space: TestSpace
  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startRealSpace()])
  })
  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  async function makeEmailRoom(page: Page): Promise<void> {
    await page.goto(`${space.origin}/space`)
    await page.getByLabel('People on a list, and agents').check()
    await page.getByLabel('Their e-mail addresses').fill('bob@example.com')
    await page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(page, 'ann@example.com')
    await page.getByRole('button', { name: 'Make the room' }).click()
    await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
  }

  test('a double click on Remove removes, and does not let in again; one on Let in asks the service once', async () => {
    const ann = await newVisitor(browser, { timezoneId: zoneAtNoon() })
    const { page } = ann
    await makeEmailRoom(page)
    await page.getByRole('button', { name: 'People', exact: true }).click()
    const remove = page.getByRole('button', { name: 'Remove bob@example.com' })
    // As slow as the two clicks of somebody who is not quick: the answer to the first one is there.
    await remove.dblclick({ delay: 60 })
    await page.getByText('Removed today').waitFor()
    await page.getByLabel('Let someone in').fill('cem@example.com')
    await page.getByRole('button', { name: 'Let in', exact: true }).dblclick()
    await page.locator('.people li', { hasText: 'cem@example.com' }).waitFor()
    // The changes of a list are sent one after the other: what the second click had sent would be before this one.
    const ops = ann.sent.flatMap(({ body }) => /"op":"(admit|expel)"/.exec(body)?.[1] ?? [])
    assert.deepEqual(ops, ['expel', 'admit'])
    assertNoTrouble(ann)
    await ann.close()
  })

  test('a change of a list, a new title and the removal of a room, whose answers are lost, are reported as done', async () => {
    const ann = await newVisitor(browser, { timezoneId: zoneAtNoon() })
    const { page } = ann
    const lost = new Set<string>()
    await page.route('**/space', async (route, request) => {
      const body = request.postData() ?? ''
      // A held poll has no answer: it cannot tell that the room is gone.
      if (/"waitMs":[1-9]/.test(body)) return
      const op = /"op":"(expel|rename|remove)"/.exec(body)?.[1] ?? ''
      if (op === '' || lost.has(op)) return route.fallback()
      lost.add(op)
      await route.fetch()
      return route.abort()
    })
    await makeEmailRoom(page)
    await page.getByRole('button', { name: 'People', exact: true }).click()
    await page.getByRole('button', { name: 'Remove bob@example.com' }).click()
    await page.getByText('Removed today').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'More', exact: true }).click()
    const renamed = page.waitForResponse((answer) => /"op":"rename"/.test(answer.request().postData() ?? ''))
    await page.getByLabel('The room’s title').fill('Renamed')
    await page.keyboard.press('Enter')
    assert.equal((await renamed).status(), 200)
    await page.getByRole('button', { name: 'Remove…' }).click()
    await page.getByRole('button', { name: 'Remove it' }).click()
    const problem = page.getByRole('alert')
    await problem.or(page.getByRole('heading', { name: 'The service no longer has this room' })).waitFor()
    assert.equal(await problem.count(), 0)
    assert.deepEqual([...lost], ['expel', 'rename', 'remove'])
    await ann.close()
  })

  test('while the list changes, a button that would do nothing says so', async () => {
    const { page, close } = await newVisitor(browser)
    await makeListedRoom(page, space.origin, 'bob@example.com cem@example.com dan@example.com')
    await openList(page)
    const takeBack = (who: string) => page.getByRole('button', { name: `Take back the invitation for ${who}` })
    await takeBack('cem@example.com').waitFor()
    await page.getByRole('button', { name: 'Show link for dan@example.com' }).click()
    const toDan = new URL(await page.getByLabel('Invitation for dan@example.com').inputValue()).hash.slice(1)
    await answerInvitation(toDan, { spaceUrl: `${space.origin}/space`, audience: space.origin, device: await newDevice() })
    await page.getByRole('button', { name: 'Let in dan@example.com' }).waitFor()
    const isAsked = Promise.withResolvers<void>()
    await page.route('**/space', async (route, request) => {
      if (request.postData()?.includes('"op":"append"')) await isAsked.promise
      return route.fallback()
    })
    await takeBack('bob@example.com').click()
    await page.getByRole('button', { name: 'Invite', exact: true }).and(page.locator('[aria-disabled=true]')).waitFor()
    assert.equal(await takeBack('cem@example.com').getAttribute('aria-disabled'), 'true')
    assert.equal(await takeBack('dan@example.com').getAttribute('aria-disabled'), 'false', 'a press asks first')
    await takeBack('dan@example.com').click()
    const keep = page.getByRole('button', { name: 'Keep the invitation' })
    await keep.waitFor()
    isAsked.resolve()
    await takeBack('bob@example.com').waitFor({ state: 'detached' })
    // A click waits until the button can be pressed.
    await keep.click()
    await takeBack('cem@example.com').click()
    await takeBack('cem@example.com').waitFor({ state: 'detached' })
    await close()
  })

  for (const [who, choice] of [
    ['with the link', 'Anyone with the link'],
    ['on a list', 'Only people on a list'],
    ['with the link, and agents', 'People with the link, and agents'],
  ] as const)
    test(`a room for people ${who} whose answers were lost is made once, also if it is asked for again`, async () => {
      const ann = await newVisitor(browser)
      const { page } = ann
      await page.goto(`${space.origin}/space`)
      await page.getByLabel(choice).check()
      const made = new Set<string>()
      let lost = 0
      let isLost = true
      await page.route('**/space', async (route, request) => {
        const { op } = (request.postDataJSON() ?? {}) as { op?: string }
        if (!isLost || (op !== 'make' && op !== 'create' && op !== 'read')) return route.fallback()
        await route.fetch()
        if (op !== 'read') lost++
        return route.abort()
      })
      page.on('request', (request) => {
        const { op, room } = JSON.parse(request.postData() ?? '{}') as { op?: string; room?: string }
        if (room !== undefined && (op === 'make' || op === 'create')) made.add(room)
      })
      const make = page.getByRole('button', { name: 'Make the room' })
      await make.click()
      await page.getByRole('alert').waitFor({ timeout: 20_000 })
      assert.ok(lost > 0)
      isLost = false
      await make.click()
      await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
      assert.equal(made.size, 1)
      await ann.close()
    })

  test('a message is retracted once, also if that is asked for again while the first request is on its way', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeRoom(page, space)
    await write(page, 'Too much')
    const message = page.locator('.message', { hasText: 'Too much' }).first()
    await message.waitFor()
    const isAsked = Promise.withResolvers<void>()
    await page.route('**/space', async (route, request) => {
      if (request.postData()?.includes('"op":"turn"')) await isAsked.promise
      return route.fallback()
    })
    for (let i = 0; i < 2; i++) {
      await message.hover()
      await message.getByRole('button', { name: 'Retract message' }).click()
      await page.getByRole('button', { name: 'Retract it' }).click()
    }
    assert.equal(await page.locator('.pending').count(), 1)
    isAsked.resolve()
    await page.getByText('Retracted by its author.').waitFor()
    await page.locator('.pending').waitFor({ state: 'detached' })
    assert.equal(await page.getByText('You retracted a message.').count(), 1)
    await ann.close()
  })

  test('a double click on the button that keeps a room on the device keeps it', async () => {
    const ann = await newVisitor(browser)
    await makeSealedRoom(ann.page, space.origin)
    await ann.page.getByRole('button', { name: 'More', exact: true }).click()
    await ann.page.getByRole('button', { name: 'Keep on this device' }).dblclick()
    await ann.page.getByRole('button', { name: 'Forget this room' }).waitFor()
    await ann.close()
  })

  test('of several people, those who are invited before a failure are not invited again', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeListedRoom(page, space.origin)
    await openList(page)
    let appends = 0
    const [isSecond, isTyped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/space', async (route) => {
      if (!/"op":"append"/.test(route.request().postData() ?? '')) return route.continue()
      appends++
      if (appends === 1) return route.continue()
      isSecond.resolve()
      await isTyped.promise
      return route.fulfill({
        status: 503,
        headers: { 'retry-after': '1' },
        json: { error: 'unavailable', reason: 'The service has a problem.' },
      })
    })
    const field = page.getByLabel('Invite somebody')
    await field.fill('bob@example.com cem@example.com')
    await field.press('Enter')
    await isSecond.promise
    // What is typed now would be lost at the end.
    await field.press('x')
    assert.equal(await field.inputValue(), 'bob@example.com cem@example.com')
    isTyped.resolve()
    await page.getByRole('alert').waitFor({ timeout: 60_000 })
    await page.unroute('**/space')
    await field.press('Enter')
    const row = (who: string) => page.locator('.people li', { hasText: who })
    await row('cem@example.com').waitFor()
    assert.equal(await row('bob@example.com').count(), 1)
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('.admit input')?.value === '')
    await ann.close()
  })
})
