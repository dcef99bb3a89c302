import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newRoomSecret } from '@atrium/room-client/new-room-secret'
import { deriveClientKeys, sealClientLine } from '@atrium/sealing/client-sealed'
import type { Browser, Locator, Page } from 'playwright-core'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeListedRoom, message, newVisitor, openList, type Visitor, write } from './testing/visitor.ts'

const SCREENSHOTS = process.env['SPACE_SCREENSHOTS']

/** Wide and narrow, light and dark. */
async function lookAt(page: Page, what: string): Promise<void> {
  for (const width of [1280, 360])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${SCREENSHOTS}/${what}-${width}-${colorScheme}.png`, animations: 'disabled' })
    }
  await page.setViewportSize({ width: 1280, height: 720 })
}

describe('client-sealed rooms with a list', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
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
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

  async function open(page: Page, link: string): Promise<void> {
    await page.goto('about:blank')
    await page.goto(link)
  }

  async function linkFor(page: Page, who: string): Promise<string> {
    await button(page, `Show link for ${who}`).click()
    const link = await page.getByLabel(`Invitation for ${who}`).inputValue()
    await button(page, `Show link for ${who}`).click()
    return link
  }

  /** Opens the invitation and answers it, with a sign-in if there is an address. */
  async function answer(page: Page, link: string, { email, name }: { email?: string; name: string }): Promise<void> {
    await page.goto(link)
    await page.getByRole('heading', { name: 'You are invited to a room' }).waitFor()
    if (email !== undefined) {
      await page.getByRole('button', { name: /^Sign in with/ }).click()
      await space.signIn(page, email)
      await page.getByText(`You have signed in as ${email}`).waitFor()
    }
    await page.getByLabel('Your name').fill(name)
    await button(page, 'Answer the invitation').click()
  }

  /** No server but the provider has the words, the address or the token. */
  function assertSealed({ sent }: Visitor, words: readonly string[]): void {
    const own = sent.filter(({ url }) => url.startsWith(space.origin))
    const spellings = words.flatMap((text) => [text, Buffer.from(text).toString('base64url').slice(0, -2)])
    assert.ok(own.some(({ body }) => body.includes('"op":"append"')))
    for (const { url, body } of own) for (const text of spellings) assert.ok(!`${url}${body}`.includes(text), `${url}: ${text}`)
  }

  test('the owner invites by address, lets in who has answered, and each line says who wrote it and how that is known', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    await makeListedRoom(ann.page, space.origin, 'bob@example.com')
    await openList(ann.page)
    await row(ann.page, 'bob@example.com').getByText('Not answered yet').waitFor()
    const link = await linkFor(ann.page, 'bob@example.com')
    await assertAccessible(ann.page, 'list')
    await bob.page.goto(link)
    await bob.page.getByRole('heading', { name: 'You are invited to a room' }).waitFor()
    await assertAccessible(bob.page, 'invitation')
    await answer(bob.page, link, { email: 'bob@example.com', name: 'Bob' })
    await bob.page.getByRole('heading', { name: 'The invitation is answered' }).waitFor()
    // It is the only link that Bob was sent.
    await open(bob.page, link)
    await bob.page.getByRole('heading', { name: 'The invitation is answered' }).waitFor()
    await row(ann.page, 'Answered by Bob: bob@example.com, shown by').waitFor()
    await button(ann.page, 'Let in bob@example.com').click()
    await bob.page.getByRole('heading', { name: 'The room is ready' }).waitFor({ timeout: 20_000 })
    const configs = ({ sent }: Visitor) => sent.filter(({ url }) => url.endsWith('/space-config')).length
    const before = configs(bob)
    await bob.page.reload()
    await bob.page.getByRole('heading', { name: 'The room is ready' }).waitFor({ timeout: 20_000 })
    assert.equal(configs(bob) - before, 1, 'a listed room that opens reads the configuration once')
    await bob.page.getByText('Nobody has written yet').waitFor()
    await write(bob.page, 'Good evening from the harbour')
    await message(ann.page, 'Good evening').waitFor()
    assert.match(
      (await message(ann.page, 'Good evening').locator('.byline').textContent()) ?? '',
      /^Bob.*bob@example\.com, shown by localhost:\d+/,
    )
    await ann.page.keyboard.press('Escape')
    await write(ann.page, 'Welcome to the harbour')
    assert.match(
      (await message(bob.page, 'Welcome').locator('.byline').textContent()) ?? '',
      /^Ann.*made the room, without a sign-in/,
    )
    // Everybody has one colour, in the conversation and on the list.
    await button(bob.page, 'People').first().click()
    for (const [name, text] of [
      ['Ann', 'Welcome'],
      ['Bob', 'Good evening'],
    ] as const) {
      const item = bob.page.locator('.people li', { has: bob.page.locator('.name', { hasText: name }) })
      const classOf = (one: Locator) => one.locator('.avatar').getAttribute('class')
      assert.equal(await classOf(item), await classOf(message(bob.page, text)))
    }
    // A later visit on this device, which has nothing but its keys.
    await bob.page.reload()
    await message(bob.page, 'Welcome').waitFor()
    const room = bob.page.url()
    await open(bob.page, link)
    await message(bob.page, 'Welcome').waitFor()
    assert.equal(bob.page.url(), room)
    // The used invitation opens nothing any more.
    const eve = await newVisitor(browser)
    await eve.page.goto(link)
    await eve.page.getByRole('heading', { name: 'This invitation is no longer valid' }).waitFor()
    await eve.page.goto(room)
    await eve.page.getByRole('heading', { name: 'The service does not let this device in' }).waitFor()
    // A wrong clock is no removal, also for a device that has kept no key of the room. A proof may be a minute early.
    await bob.page.close()
    const late = await bob.context.newPage()
    await late.addInitScript(
      'const { now } = Date; Date.now = () => now.call(Date) + 120_000; indexedDB.deleteDatabase("atrium-space-lines")',
    )
    await late.goto(room)
    await late.getByRole('heading', { name: 'The clock of this device is wrong' }).waitFor()
    await late.getByText('It differs from that of the service by more than a minute.').waitFor()
    assertSealed(ann, ['bob@example.com', 'harbour'])
    assertSealed(bob, ['bob@example.com', 'harbour', 'email_verified'])
    assertNoTrouble(ann)
    assertNoTrouble(bob)
    await Promise.all([ann.close(), bob.close(), eve.close()])
  })

  test('who was offline while the key changed reads and writes on; who was removed is told what to do', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    await makeListedRoom(ann.page, space.origin)
    await openList(ann.page)
    await ann.page.getByLabel('Invite somebody').fill('Bob, by telephone')
    await ann.page.keyboard.press('Enter')
    const link = await linkFor(ann.page, 'Bob, by telephone')
    await answer(bob.page, link, { name: 'Bob' })
    await button(ann.page, 'Let in Bob, by telephone').click()
    await bob.page.getByRole('heading', { name: 'The room is ready' }).waitFor({ timeout: 20_000 })

    await bob.context.setOffline(true)
    await bob.page.getByText('You are offline.').waitFor()
    await write(bob.page, 'Written while offline')
    await ann.page.getByLabel('Invite somebody').fill('cem@example.com')
    await ann.page.keyboard.press('Enter')
    await button(ann.page, /^Take back/).click()
    await row(ann.page, 'cem@example.com').waitFor({ state: 'detached' })
    await bob.context.setOffline(false)
    await message(ann.page, 'Written while offline').waitFor({ timeout: 20_000 })
    assert.match(
      (await message(ann.page, 'Written').locator('.byline').textContent()) ?? '',
      /^Bob.*invited as Bob, by telephone, without a sign-in/,
    )

    // With a second invitation, Bob could read on.
    await ann.page.getByLabel('Invite somebody').fill('Bob, by telephone')
    await ann.page.keyboard.press('Enter')
    await row(ann.page, 'Not answered yet').waitFor()
    await button(ann.page, 'Remove Bob').click()
    await ann.page.getByText('All open invitations for Bob, by telephone are taken back, too.').waitFor()
    await button(ann.page, 'Remove it').click()
    await row(ann.page, 'Not answered yet').waitFor({ state: 'detached' })
    await bob.page.getByRole('heading', { name: 'The service no longer lets this device in' }).waitFor({ timeout: 40_000 })
    assert.equal(await bob.page.locator('.message').count(), 0)
    await bob.page.getByText('Only the service says so').waitFor()
    await bob.page.reload()
    await bob.page.getByRole('heading', { name: 'The service no longer lets this device in' }).waitFor()
    assertNoTrouble(ann)
    assertNoTrouble(bob)
    await Promise.all([ann.close(), bob.close()])
  })

  const heading = (page: Page, name: string) => page.getByRole('heading', { name })

  async function inviteByName(page: Page, who: string): Promise<string> {
    await page.getByLabel('Invite somebody').fill(who)
    // The click waits until another change of the list has ended.
    await button(page, 'Invite').click()
    return linkFor(page, who)
  }

  test('what came before a line that is wrong is shown with its authors, and where that ends', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    await makeListedRoom(ann.page, space.origin)
    await openList(ann.page)
    await answer(bob.page, await inviteByName(ann.page, 'Bob, by telephone'), { name: 'Bob' })
    await button(ann.page, 'Let in Bob, by telephone').click()
    await heading(bob.page, 'The room is ready').waitFor({ timeout: 20_000 })
    const link = bob.page.url()
    await write(bob.page, 'Said in time')
    await message(ann.page, 'Said in time').waitFor()
    await bob.page.goto('about:blank')
    const room = /#([\w-]+)~~/.exec(link)![1]!
    const foreign = await deriveClientKeys(newRoomSecret())
    await space.addLines!(room, [await sealClientLine({ ...foreign, room }, { content: 'x' })])
    await heading(ann.page, 'What was checked ends here').waitFor()
    await message(ann.page, 'Said in time').waitFor()
    await ann.page.getByText('The service or somebody who can write here has put it there.').waitFor()
    // Whoever comes back sees the same.
    for (const { page } of [bob, ann]) {
      await page.goto('about:blank')
      await page.goto(link)
      await message(page, 'Said in time').waitFor()
      assert.match(
        (await message(page, 'Said in time').locator('.byline').textContent()) ?? '',
        page === bob.page ? /^You/ : /^Bob/,
      )
      await heading(page, 'What was checked ends here').waitFor()
      assert.equal(await page.getByLabel('Message', { exact: true }).count(), 0)
    }
    assertNoTrouble(ann)
    assertNoTrouble(bob)
    await Promise.all([ann.close(), bob.close()])
  })

  test('the owner lets in only the person whose button was pressed, and nobody else who has answered', async () => {
    const [ann, bob, cem] = await Promise.all([newVisitor(browser), newVisitor(browser), newVisitor(browser)])
    await makeListedRoom(ann.page, space.origin)
    await openList(ann.page)
    await answer(bob.page, await inviteByName(ann.page, 'Bob, by telephone'), { name: 'Bob' })
    await answer(cem.page, await inviteByName(ann.page, 'Cem, by telephone'), { name: 'Cem' })
    await button(ann.page, 'Let in Cem, by telephone').waitFor()
    await button(ann.page, 'Let in Bob, by telephone').click()
    await button(ann.page, 'Remove Bob').waitFor()
    await heading(bob.page, 'The room is ready').waitFor({ timeout: 20_000 })
    await button(ann.page, 'Let in Cem, by telephone').waitFor()
    assert.equal(await button(ann.page, 'Remove Cem').count(), 0)
    await heading(cem.page, 'The invitation is answered').waitFor()
    await Promise.all([ann.close(), bob.close(), cem.close()])
  })

  test('an address that another sign-in shows is not let in, and the owner is told', async () => {
    const [ann, eve] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    await makeListedRoom(ann.page, space.origin, 'bob@example.com')
    await openList(ann.page)
    await answer(eve.page, await linkFor(ann.page, 'bob@example.com'), { email: 'eve@example.com', name: 'Bob' })
    await row(ann.page, 'signed in with another address').waitFor()
    await button(ann.page, 'Let in bob@example.com').click()
    await ann.page.getByText('This address was not shown by a sign-in.').waitFor()
    await eve.page.getByRole('heading', { name: 'The invitation is answered' }).waitFor()
    await Promise.all([ann.close(), eve.close()])
  })

  test('the owner is told which other device of the same address stays, and which invitation does not', async () => {
    const [ann, desk, phone] = await Promise.all([newVisitor(browser), newVisitor(browser), newVisitor(browser)])
    const email = 'bob@example.com'
    await makeListedRoom(ann.page, space.origin, email)
    await openList(ann.page)
    await answer(desk.page, await linkFor(ann.page, email), { email, name: 'Bob at the desk' })
    await button(ann.page, `Let in ${email}`).click()
    await button(ann.page, 'Remove Bob at the desk').waitFor()
    await answer(phone.page, await inviteByName(ann.page, email), { email, name: 'Bob on the phone' })
    await button(ann.page, `Let in ${email}`).click()
    await button(ann.page, 'Remove Bob on the phone').waitFor()
    await inviteByName(ann.page, 'cem@example.com')
    await inviteByName(ann.page, email)
    await button(ann.page, 'Remove Bob at the desk').click()
    const stays = 'These devices of the same person stay on the list: '
    await ann.page.getByText(`${stays}Bob on the phone.`).waitFor()
    await ann.page.getByText(`All open invitations for ${email} are taken back, too.`).waitFor()
    await assertAccessible(ann.page, 'asked before the first device of an address is removed')
    if (SCREENSHOTS) await lookAt(ann.page, 'one-of-two-devices')
    await button(ann.page, 'Remove it').click()
    await row(ann.page, 'Bob at the desk').waitFor({ state: 'detached' })
    await button(ann.page, 'Remove Bob on the phone').click()
    assert.equal(await ann.page.getByText(stays).count(), 0)
    await row(ann.page, 'cem@example.com').waitFor()
    assertNoTrouble(ann)
    await Promise.all([ann.close(), desk.close(), phone.close()])
  })

  test('a sign-in that readers would refuse is reported above the room, which stays open', async () => {
    const ann = await newVisitor(browser)
    await makeListedRoom(ann.page, space.origin)
    await openList(ann.page)
    await ann.page.evaluate(() => {
      const room = /^#(.+)~~/.exec(location.hash)?.[1] ?? ''
      sessionStorage.setItem(`atrium.space.room-token.${room}`, JSON.stringify({ idToken: 'x.y.z', email: '', expiresAtMs: 0 }))
    })
    await ann.page.reload()
    await ann.page.getByText('Your sign-in cannot be read').waitFor()
    await write(ann.page, 'Still here')
    await message(ann.page, 'Still here').waitFor()
    await ann.page.getByText('Your sign-in cannot be read').waitFor()
    await ann.close()
  })

  test('a second device of the owner gets keys of its own by a link or QR code, and reads back', async () => {
    const [ann, phone] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    await makeListedRoom(ann.page, space.origin)
    await openList(ann.page)
    await ann.page.keyboard.press('Escape')
    await write(ann.page, 'Written at the desk')
    await message(ann.page, 'Written').waitFor()
    await button(ann.page, 'People').click()
    await button(ann.page, 'Add a device of yours').click()
    await button(ann.page, 'Show link for Ann, another device').click()
    await button(ann.page, 'Show QR code').click()
    await ann.page.locator('.invitation svg.qr').waitFor()
    const link = await ann.page.getByLabel('Invitation for Ann, another device').inputValue()
    await answer(phone.page, link, { name: 'Ann’s phone' })
    await button(ann.page, 'Let in Ann, another device').click()
    await message(phone.page, 'Written at the desk').waitFor({ timeout: 20_000 })
    assert.notEqual(phone.page.url(), link)
    assert.equal(await phone.page.getByText('Add a device of yours').count(), 0)
    assertNoTrouble(ann)
    assertNoTrouble(phone)
    await Promise.all([ann.close(), phone.close()])
  })

  test('the panel reads the lists and the signatures anew', async () => {
    const ann = await newVisitor(browser)
    await makeListedRoom(ann.page, space.origin, 'bob@example.com')
    await openList(ann.page)
    await ann.page.keyboard.press('Escape')
    await write(ann.page, 'Something to be signed')
    await message(ann.page, 'Something').waitFor()
    await button(ann.page, 'Protection').click()
    await button(ann.page, 'Check again').waitFor()
    const found = await ann.page
      .locator('.check')
      .evaluateAll((items) => items.map((item) => [item.getAttribute('data-check'), item.className.replace('check ', '')]))
    const results = Object.fromEntries(found) as Record<string, string>
    for (const id of ['bytes', 'recipients', 'opens', 'lists', 'authors', 'chain', 'seen', 'shown'])
      assert.equal(results[id], 'proved', id)
    assert.equal(results['key'], 'trusted')
    // A fault of this page proves nothing about the room.
    await ann.page.evaluate(() => {
      const { push } = Array.prototype
      const limited = function (this: unknown[], ...items: unknown[]) {
        if (items.length > 2) throw new RangeError('too many arguments')
        return push.apply(this, items)
      }
      Object.assign(Array.prototype, { push: limited })
    })
    await button(ann.page, 'Check again').click()
    await ann.page.locator('.check.unknown[data-check=chain]').waitFor()
    assert.equal(await ann.page.locator('.check.failed').count(), 0)
    assertNoTrouble(ann)
    await ann.close()
  })
})
