import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { KeyboardUser } from '../../../../tests/support/keyboard-user.ts'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeListedRoom, message, newVisitor } from './testing/visitor.ts'

const SCREENSHOTS = process.env['SPACE_SCREENSHOTS']
const NARROW = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', reducedMotion: 'reduce' } as const

describe('a member who is removed and comes back, by keyboard alone', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startRealSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  const heading = (page: Page, name: string) => page.getByRole('heading', { name })

  async function look(page: Page, what: string): Promise<void> {
    if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/come-back-${what.replaceAll(' ', '-')}.png` })
    const width = await page.evaluate(() =>
      Math.max(...[...document.querySelectorAll('html, .scroller, .sheet-body, .room')].map((one) => one.scrollWidth)),
    )
    assert.ok(width <= NARROW.viewport.width, `${what}: ${width}`)
    await assertAccessible(page, what)
  }

  async function say(user: KeyboardUser, text: string): Promise<void> {
    // The frame around the field shows that it has the focus.
    while ((await user.focused()).name !== 'Message') await user.press('Tab')
    await user.type(text)
    await user.press('Enter')
    await message(user.page, text).waitFor()
  }

  /** In the panel People. Resolves to the link that the owner sends. */
  async function invite(owner: KeyboardUser, who: string): Promise<string> {
    const { page } = owner
    await page.getByLabel('Invite somebody').waitFor()
    await owner.reach('Invite somebody')
    await owner.type(who)
    await owner.press('Enter')
    await page.getByRole('button', { name: `Show link for ${who}` }).waitFor()
    await owner.reach(`Show link for ${who}`, 'Shift+Tab')
    await owner.press('Enter')
    return page.getByLabel(`Invitation for ${who}`).inputValue()
  }

  /** The link is still shown: where the focus is, another button appears when the answer comes. */
  async function letIn(owner: KeyboardUser, who: string): Promise<void> {
    const { page } = owner
    await page.getByText('Answered by').waitFor()
    await owner.isAt(new RegExp(`^${who}.*Answered by`))
    await owner.choose(`Let in ${who}`)
    await page.getByText('Answered by').waitFor({ state: 'detached' })
    await owner.isAt('People')
  }

  async function answer(member: KeyboardUser): Promise<void> {
    await member.reach(/^Your name/)
    await member.type('Bob')
    await member.press('Enter')
    await heading(member.page, 'The invitation is answered').waitFor()
    await member.isAt('The invitation is answered')
  }

  async function remove(owner: KeyboardUser): Promise<void> {
    await owner.choose('Remove Bob')
    await owner.isAt('Keep it')
    await look(owner.page, 'asked before removing')
    // The panel stays open.
    await owner.press('Escape')
    await owner.isAt('Remove Bob')
    await owner.press('Enter', 'Shift+Tab')
    await owner.isAt('Remove it')
    await owner.press('Enter')
    await owner.page.getByRole('button', { name: 'Remove Bob' }).waitFor({ state: 'detached' })
    await owner.isAt(/^A?\s*Ann you/)
  }

  test('a name: the page of the member says what happened, and after another invitation both read and write', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser, NARROW), newVisitor(browser, NARROW)])
    const [owner, member] = [new KeyboardUser(ann.page), new KeyboardUser(bob.page)]
    await makeListedRoom(ann.page, space.origin)
    await owner.choose('People')
    await bob.page.goto(await invite(owner, 'Bob, by telephone'))
    await member.isAt('You are invited to a room')
    await look(bob.page, 'invited')
    await answer(member)
    await look(bob.page, 'answered')
    await letIn(owner, 'Bob, by telephone')
    await heading(bob.page, 'The room is ready').waitFor({ timeout: 20_000 })
    await say(member, 'Good evening from the harbour')
    await member.type('Half a thought')

    await remove(owner)
    await look(ann.page, 'removed by the owner')
    await heading(bob.page, 'The service no longer lets this device in').waitFor({ timeout: 40_000 })
    await member.isAt('The service no longer lets this device in')
    assert.equal(await bob.page.locator('.message').count(), 0)
    await bob.page.getByText('ask the owner for a new invitation').waitFor()
    await look(bob.page, 'removed')
    await owner.press('Escape')
    await owner.isAt('People')
    await say(owner, 'Written while Bob was away')

    while ((await owner.focused()).name !== 'People') await owner.press('Shift+Tab')
    await owner.press('Enter')
    await bob.page.goto(await invite(owner, 'Bob again'))
    await member.isAt('You are invited to a room')
    await answer(member)
    // The service still says that this device was removed. The page must not, also after a reload.
    await bob.page.reload()
    await heading(bob.page, 'The invitation is answered').waitFor()
    await look(bob.page, 'answered again')
    await look(ann.page, 'answered again for the owner')
    await letIn(owner, 'Bob again')
    await message(bob.page, 'Written while Bob was away').waitFor({ timeout: 20_000 })
    await message(bob.page, 'Good evening from the harbour').waitFor()
    assert.equal(await bob.page.getByLabel('Message', { exact: true }).inputValue(), 'Half a thought')
    await look(bob.page, 'back')
    await say(member, ' that is whole again')
    await owner.press('Escape')
    await message(ann.page, 'Half a thought that is whole again').waitFor()
    await say(owner, 'Welcome back')
    await message(bob.page, 'Welcome back').waitFor()
    await look(ann.page, 'the room at the end')

    // Removed once more, the page says so again.
    while ((await owner.focused()).name !== 'People') await owner.press('Shift+Tab')
    await owner.press('Enter')
    await heading(ann.page, 'On the list').waitFor()
    await remove(owner)
    await heading(bob.page, 'The service no longer lets this device in').waitFor({ timeout: 40_000 })
    assertNoTrouble(ann)
    assertNoTrouble(bob)
    await Promise.all([ann.close(), bob.close()])
  })

  test('an answered invitation that is taken back: the page of the member says so, and another one is good', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser, NARROW), newVisitor(browser, NARROW)])
    const [owner, member] = [new KeyboardUser(ann.page), new KeyboardUser(bob.page)]
    await makeListedRoom(ann.page, space.origin)
    await owner.choose('People')
    const link = await invite(owner, 'Bob, by telephone')
    await bob.page.goto(link)
    await member.isAt('You are invited to a room')
    await answer(member)
    await ann.page.getByText('Answered by').waitFor()
    await owner.choose(/^Take back/)
    await owner.isAt('Keep the invitation')
    await look(ann.page, 'asked before taking back')
    await owner.press('Escape')
    await owner.isAt(/^Take back/)
    await owner.press('Enter', 'Shift+Tab', 'Enter')
    await ann.page.getByText('Answered by').waitFor({ state: 'detached' })
    await heading(bob.page, 'The service no longer accepts the invitation').waitFor({ timeout: 20_000 })
    await member.isAt('The service no longer accepts the invitation')
    await look(bob.page, 'taken back')
    await bob.page.reload()
    await heading(bob.page, 'The service no longer accepts the invitation').waitFor()
    await bob.page.goto(link)
    await heading(bob.page, 'This invitation is no longer valid').waitFor()

    await bob.page.goto(await invite(owner, 'Bob again'))
    await member.isAt('You are invited to a room')
    await answer(member)
    await letIn(owner, 'Bob again')
    await heading(bob.page, 'The room is ready').waitFor({ timeout: 20_000 })
    assertNoTrouble(ann)
    assertNoTrouble(bob)
    await Promise.all([ann.close(), bob.close()])
  })

  test('an address: the owner sees which one the sign-in has shown before letting the person in again', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser, NARROW), newVisitor(browser, NARROW)])
    const [owner, member] = [new KeyboardUser(ann.page), new KeyboardUser(bob.page)]
    const email = 'bob@example.com'
    await makeListedRoom(ann.page, space.origin)
    await owner.choose('People')
    const signInAndAnswer = async (link: string) => {
      await bob.page.goto(link)
      await member.isAt('You are invited to a room')
      await member.choose(/^Sign in with/)
      await space.signIn(bob.page, email)
      await bob.page.getByText(`You have signed in as ${email}`).waitFor()
      await answer(member)
    }
    await signInAndAnswer(await invite(owner, email))
    await letIn(owner, email)
    await heading(bob.page, 'The room is ready').waitFor({ timeout: 20_000 })
    await say(member, 'Good evening')
    await remove(owner)
    await heading(bob.page, 'The service no longer lets this device in').waitFor({ timeout: 40_000 })
    await signInAndAnswer(await invite(owner, email))
    await ann.page.getByText(`Answered by Bob: ${email}, no longer on the list`).waitFor()
    await look(ann.page, 'an address for the owner')
    await letIn(owner, email)
    await say(member, 'Good morning')
    await message(ann.page, 'Good morning').waitFor()
    assert.match((await message(ann.page, 'Good morning').textContent()) ?? '', /bob@example\.com, shown by localhost:\d+/)
    await look(bob.page, 'back with an address')
    assertNoTrouble(ann)
    assertNoTrouble(bob)
    await Promise.all([ann.close(), bob.close()])
  })
})
