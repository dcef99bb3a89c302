import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { startSpace, type TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeRoom, message, newVisitor, write } from './testing/visitor.ts'

describe('a room with a list', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  async function makeListedRoom(page: Page, addresses: string): Promise<string> {
    await page.goto(`${space.origin}/space`)
    await page.getByLabel('People on a list, and agents').check()
    await page.getByLabel('Title').fill('Only us')
    await page.getByLabel('Their e-mail addresses').fill(addresses)
    await page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(page, 'ann@example.com')
    // What was filled in is still there.
    assert.equal(await page.getByLabel('Title').inputValue(), 'Only us')
    await page.getByRole('button', { name: 'Make the room' }).click()
    await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
    return page.url()
  }

  test('its owner signs in to make it; who is on the list signs in, and the link’s key never leaves the browser on the way', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const link = await makeListedRoom(ann.page, 'Bob@example.com, cem@example.com')
    const key = link.slice(link.indexOf('.') + 1)
    await bob.page.goto(link)
    await bob.page.getByRole('heading', { name: 'This room has a list' }).waitFor()
    await bob.page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(bob.page, 'bob@example.com')
    await bob.page.getByRole('heading', { name: 'Only us' }).waitFor()
    assert.equal(bob.page.url(), link)
    await write(bob.page, 'Here I am')
    const seen = message(ann.page, 'Here I am')
    await seen.waitFor()
    assert.equal(await seen.locator('.name').textContent(), 'Bob')
    for (const { url, body } of bob.sent)
      assert.ok(!url.includes(key) && (!body.includes(key) || url === `${space.origin}/space`), url)
    assert.ok(bob.sent.some(({ url }) => url.includes('code_challenge_method=S256') && url.includes('nonce=')))
    assertNoTrouble(ann)
    assertNoTrouble(bob)
    await ann.close()
    await bob.close()
  })

  test('each refusal has its own words; the owner lets someone in and takes someone off while they look on', async () => {
    const [ann, eve] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const link = await makeListedRoom(ann.page, '')
    await eve.page.goto(link)
    await eve.page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(eve.page, undefined)
    await eve.page.getByText('You did not sign in.').waitFor()
    await eve.page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(eve.page, 'eve@example.com')
    await eve.page.getByRole('heading', { name: 'You are not on the list' }).waitFor()
    await eve.page.getByText('eve@example.com is not on this room’s list').waitFor()

    await ann.page.getByRole('button', { name: 'People', exact: true }).click()
    await ann.page.getByLabel('Let someone in').fill('not an address')
    await ann.page.keyboard.press('Enter')
    await ann.page.getByText('This is not an e-mail address').waitFor()
    await ann.page.getByLabel('Let someone in').fill('eve@example.com')
    await ann.page.keyboard.press('Enter')
    await ann.page.locator('.people li', { hasText: 'eve@example.com' }).waitFor()
    await eve.page.getByRole('heading', { name: 'Only us' }).waitFor({ timeout: 20_000 })

    await ann.page.getByRole('button', { name: 'Remove eve@example.com' }).click()
    await eve.page.getByRole('heading', { name: 'You were taken off the list' }).waitFor()
    await ann.page.getByRole('button', { name: 'Let in again eve@example.com' }).waitFor()
    assert.equal(await ann.page.getByRole('button', { name: /ann@example.com/ }).count(), 0, 'the owner cannot be removed')
    assertNoTrouble(ann)
    assertNoTrouble(eve)
    await ann.close()
    await eve.close()
  })

  test('the owner lets an agent in by its id and takes it off; the others see it, and that it is one', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const link = await makeListedRoom(ann.page, 'bob@example.com')
    const [, room = '', mk = ''] = /#([^.]+)\.(.+)$/.exec(link) ?? []
    const scribe = 'agt_0123456789012345678901'
    await ann.page.getByRole('button', { name: 'People', exact: true }).click()
    await ann.page.getByRole('button', { name: 'Invite an agent' }).click()
    const field = ann.page.getByLabel('Let an agent in')
    await field.fill('bob@example.com')
    await ann.page.keyboard.press('Enter')
    await ann.page.getByText('This is not an agent’s id: bob@example.com').waitFor()
    await field.fill(scribe)
    await ann.page.keyboard.press('Enter')
    const row = ann.page.locator('.people li', { hasText: scribe })
    await row.waitFor()
    assert.equal(await row.locator('.agent-mark').textContent(), 'Agent')
    // Once it has written it has a name.
    await space.fill({ room, mk }, 1)
    const named = ann.page.locator('.people li', { hasText: 'Let in' }).filter({ hasText: 'Scribe' })
    await named.getByText(scribe).waitFor()
    await assertAccessible(ann.page, 'people')

    await bob.page.goto(link)
    await bob.page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(bob.page, 'bob@example.com')
    await message(bob.page, '0:').locator('.agent-mark').waitFor()
    await bob.page.getByRole('button', { name: 'People', exact: true }).click()
    await bob.page.locator('.people li', { hasText: `${scribe} · Let in` }).waitFor()
    assert.equal(await bob.page.getByLabel('Let an agent in').count(), 0, 'only the owner lets in')
    assert.equal(await bob.page.getByRole('button', { name: /^Remove/ }).count(), 0)

    await ann.page.getByRole('button', { name: 'Remove Scribe' }).click()
    await ann.page.getByRole('button', { name: 'Let in again Scribe' }).click()
    await ann.page.getByRole('button', { name: 'Remove Scribe' }).waitFor()
    for (const visitor of [ann, bob]) {
      assertNoTrouble(visitor)
      await visitor.close()
    }
  })

  test('when the sign-in runs out, what was written stays, and goes out after signing in again', async (t) => {
    if (!space.claim) return t.skip('this provider’s tokens cannot be changed')
    const ann = await newVisitor(browser)
    await makeListedRoom(ann.page, '')
    await write(ann.page, 'Before')
    await message(ann.page, 'Before').waitFor()
    // Simulates elapsed time: the token in this tab becomes a day old.
    const before = Math.floor(Date.now() / 1000) - 13 * 3600
    space.claim({ iat: before, exp: before + 3600 })
    const stale = await newVisitor(browser)
    await stale.page.goto(ann.page.url())
    await stale.page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(stale.page, 'ann@example.com')
    await stale.page.getByText('could not be used').waitFor()
    space.claim({})
    await stale.close()
    await ann.page.evaluate(() => {
      const account = JSON.parse(sessionStorage.getItem('atrium.space.account')!) as { idToken: string }
      // Changes a byte of the signature. The service rejects the token with `token: bad_signature`.
      account.idToken = `${account.idToken.slice(0, -10)}${account.idToken.at(-10) === 'A' ? 'B' : 'A'}${account.idToken.slice(-9)}`
      sessionStorage.setItem('atrium.space.account', JSON.stringify(account))
    })
    await ann.page.reload()
    await ann.page.getByRole('heading', { name: 'Your sign-in is not genuine' }).waitFor()
    await ann.page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(ann.page, 'ann@example.com')
    await message(ann.page, 'Before').waitFor()
    await ann.close()
  })

  test('a provider that does not answer is named before and after the sign-in, and the next attempt succeeds', async () => {
    const ann = await newVisitor(browser)
    const signIn = ann.page.getByRole('button', { name: /^Sign in with/ })
    const unreachable = ann.page.getByRole('alert').filter({ hasText: 'The identity provider does not answer.' })
    // The configuration is asked for again, too.
    const never = () => new Promise<void>(() => undefined)
    await ann.page.route('**/space-config', never, { times: 1 })
    await ann.page.goto(`${space.origin}/space`)
    await ann.page.getByLabel('People on a list, and agents').check()
    await ann.page.route('**/.well-known/openid-configuration', never, { times: 1 })
    await signIn.click()
    await unreachable.waitFor()
    for (const answer of ['none', 'a page']) {
      await ann.page.route(
        '**/token',
        (route) =>
          answer === 'none' ? never() : route.fulfill({ status: 502, contentType: 'text/html', body: '<p>Bad gateway' }),
        { times: 1 },
      )
      await signIn.click()
      await space.signIn(ann.page, 'ann@example.com')
      await ann.page.getByText('The identity provider does not answer. Try again in a moment.').waitFor()
      await ann.page.getByLabel('People on a list, and agents').check()
    }
    await signIn.click()
    await space.signIn(ann.page, 'ann@example.com')
    await ann.page.getByText('ann@example.com').first().waitFor()
    await ann.close()
  })

  test('signing out of an open tab asks to sign in again, and queues what is written meanwhile', async () => {
    const ann = await newVisitor(browser)
    await makeListedRoom(ann.page, '')
    await write(ann.page, 'Before')
    await message(ann.page, 'Before').waitFor()
    await ann.page.getByRole('button', { name: 'More', exact: true }).click()
    await ann.page.getByRole('button', { name: 'Sign out' }).click()
    await ann.page.keyboard.press('Escape')
    await ann.page.getByText('This room has a list').waitFor()
    await write(ann.page, 'Written while signed out')
    await ann.page.getByText('Waiting to be sent').waitFor()
    await ann.page
      .locator('.banner')
      .getByRole('button', { name: /^Sign in with/ })
      .click()
    await space.signIn(ann.page, 'ann@example.com')
    await message(ann.page, 'Written while signed out').waitFor()
    assertNoTrouble(ann)
    await ann.close()
  })

  test('the owner removes the room, is asked twice, and then it is gone for all', async () => {
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    const link = await makeListedRoom(ann.page, 'bob@example.com')
    await bob.page.goto(link)
    await bob.page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(bob.page, 'bob@example.com')
    await bob.page.getByRole('button', { name: 'More', exact: true }).click()
    await bob.page.getByRole('heading', { name: 'Take it with you' }).waitFor()
    await ann.page.getByRole('button', { name: 'More', exact: true }).click()
    await ann.page.getByRole('button', { name: 'Remove…' }).click()
    assert.equal(await ann.page.evaluate(() => document.activeElement?.textContent), 'Keep it')
    await ann.page.getByRole('button', { name: 'Remove it' }).click()
    for (const { page } of [ann, bob]) await page.getByRole('heading', { name: 'The service no longer has this room' }).waitFor()
    assert.equal(await bob.page.getByRole('button', { name: 'Remove…' }).count(), 0)
    await bob.page.reload()
    await bob.page.getByRole('heading', { name: 'The service has no such room' }).waitFor()
    await ann.close()
    await bob.close()
  })

  test('a sign-in that was declined in an open room is explained there', async () => {
    const ann = await newVisitor(browser)
    const { page } = ann
    await makeRoom(page, space)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(page, undefined)
    await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
    const problem = page.getByRole('alert').filter({ hasText: 'You did not sign in.' })
    await problem.waitFor()
    // Nothing covers it.
    await problem.getByRole('button', { name: 'Dismiss' }).click()
    await problem.waitFor({ state: 'detached' })
    await ann.close()
  })

  test('a sign-in that this tab did not begin is not taken', async () => {
    const ann = await newVisitor(browser)
    await ann.page.goto(`${space.origin}/space?code=stolen&state=made-up`)
    await ann.page.getByText('was not started in this tab').waitFor()
    assert.equal(new URL(ann.page.url()).search, '')
    assert.ok(!ann.sent.some(({ url }) => url.endsWith('/token')))
    await ann.close()
  })
})
