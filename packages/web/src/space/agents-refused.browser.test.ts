import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { addAgent, addCoupon, choose, lineOf, openCatalog, pay, problemIn, skipWithoutApi } from './testing/inviting.ts'
import { startSpace, type TestSpace } from './testing/start-space.ts'
import type { StubApi } from './testing/stub-api.ts'
import { assertNoTrouble, makeRoom, newVisitor } from './testing/visitor.ts'

describe('an agent that is not invited', { skip: skipWithoutChromium || skipWithoutApi, timeout: 240_000 }, () => {
  let browser: Browser
  let space: TestSpace
  let api: StubApi

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startSpace()])
    api = space.api!
  })

  beforeEach(() => api.reset())

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  test('each rejection has a specific message, and none launches an agent', async () => {
    addAgent(api)
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    await choose(ann.page)
    for (const text of ['', 'cpn_', 'wpk_000000000000000000000000000000000000', `${addCoupon(api, 5).slice(0, -1)}!`]) {
      await pay(ann.page, text)
      await problemIn(ann.page).getByText('not a complete coupon').waitFor()
    }
    assert.equal(api.presses.length, 0, 'what is no coupon goes nowhere')
    await pay(ann.page, addCoupon(api))
    await problemIn(ann.page).getByText('does not know it').waitFor()
    await pay(ann.page, addCoupon(api, 4))
    await problemIn(ann.page).getByText('less than 5 credits left').waitFor()
    const refusals = [
      [{ status: 400, code: 'invalid_request', path: '/agent_id' }, 'can no longer be invited'],
      [{ status: 401, code: 'unauthorized' }, 'Reload the page'],
      [{ status: 403, code: 'not_authorized', reason: 'token: bad_issuer' }, 'does not let agents in'],
      [{ status: 403, code: 'not_authorized', reason: 'bad_room_key' }, 'does not open the room'],
      [{ status: 400, code: 'invalid_request' }, 'does not understand'],
    ] as const
    const coupon = addCoupon(api, 5)
    for (const [answer, words] of refusals) {
      api.troubles.push(answer)
      await pay(ann.page, coupon)
      await problemIn(ann.page).getByText(words).waitFor()
    }
    assert.equal(api.sessions.length, 0)
    await ann.page.keyboard.press('Escape')
    assert.equal(await ann.page.locator('.invited').count(), 0)
    await ann.close()
  })

  test('a price that has risen is shown and not charged; another press agrees to it', async () => {
    addAgent(api)
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    await choose(ann.page)
    await ann.page.getByRole('button', { name: 'Invite for 5 credits' }).waitFor()
    const coupon = addCoupon(api, 1_000)
    api.agents[0] = { ...api.agents[0]!, price_credits: 900 }
    await pay(ann.page, coupon)
    await problemIn(ann.page).getByText('It now costs 900 credits instead of 5 credits').waitFor()
    assert.deepEqual([api.sessions.length, api.coupons.get(coupon)], [0, 1_000])
    await ann.page.getByRole('button', { name: 'Invite for 900 credits' }).click()
    await lineOf(ann.page, 'reads along').waitFor()
    assert.equal(api.coupons.get(coupon), 100)
    await ann.close()
  })

  test('for a remote agent, the page warns that it keeps the key and offers a room with a list', async () => {
    addAgent(api, 'Lamplighter')
    addAgent(api, 'Faraway', { hosting: 'remote' })
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    await choose(ann.page)
    await ann.page.getByText('What was said stays sealed').waitFor()
    assert.equal(await ann.page.getByText('writing in it as a guest').count(), 0)
    await ann.page.keyboard.press('Escape')
    await choose(ann.page, 'Faraway')
    await ann.page.getByText('writing in it as a guest').waitFor()
    await ann.page.getByRole('link', { name: 'Make a room with a list' }).click()
    await ann.page.getByRole('button', { name: /^Sign in with/ }).waitFor()
    assert.ok(await ann.page.getByLabel('People on a list, and agents').isChecked())
    assertNoTrouble(ann)
    await ann.close()
  })

  test('into a room with a list the owner lets it in first; anyone else is told whom to ask', async () => {
    const agentId = addAgent(api)
    const coupon = addCoupon(api, 5)
    const [ann, bob] = await Promise.all([newVisitor(browser), newVisitor(browser)])
    await ann.page.goto(`${space.origin}/space`)
    await ann.page.getByLabel('People on a list, and agents').check()
    await ann.page.getByLabel('Their e-mail addresses').fill('bob@example.com')
    await ann.page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(ann.page, 'ann@example.com')
    await ann.page.getByRole('button', { name: 'Make the room' }).click()
    await ann.page.getByRole('heading', { name: 'The room is ready' }).waitFor()
    await bob.page.goto(ann.page.url())
    await bob.page.getByRole('button', { name: /^Sign in with/ }).click()
    await space.signIn(bob.page, 'bob@example.com')

    await choose(bob.page)
    await bob.page.getByText('The list still applies').waitFor()
    await pay(bob.page, coupon)
    await problemIn(bob.page).getByText('is not on this room’s list').waitFor()
    await problemIn(bob.page).getByText(agentId).waitFor()
    assert.equal(await bob.page.getByRole('button', { name: 'Let it in' }).count(), 0)

    await choose(ann.page)
    await pay(ann.page, coupon)
    await ann.page.getByRole('button', { name: 'Let it in, and invite it' }).click()
    await lineOf(ann.page, 'reads along').waitFor()
    await ann.page.getByRole('button', { name: 'People', exact: true }).click()
    await ann.page.getByRole('button', { name: 'Remove Lamplighter' }).click()
    await ann.page.getByRole('button', { name: 'Let in again Lamplighter' }).waitFor()
    await ann.page.keyboard.press('Escape')
    await ann.page.getByRole('button', { name: 'Send away Lamplighter' }).click()
    await lineOf(ann.page, 'has left').waitFor()
    // Who was taken off can be let in again.
    await choose(ann.page)
    await pay(ann.page, addCoupon(api, 5))
    await ann.page.getByRole('button', { name: 'Let it in, and invite it' }).click()
    await lineOf(ann.page, 'reads along').waitFor()
    for (const visitor of [ann, bob]) {
      assertNoTrouble(visitor)
      await visitor.close()
    }
  })

  test('a catalog that cannot be fetched can be retried; an empty one has a message', async () => {
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    await ann.context.route('**/v1/catalog?*', (route) => route.abort())
    await openCatalog(ann.page)
    await problemIn(ann.page).getByText('could not be fetched').waitFor()
    await ann.context.unroute('**/v1/catalog?*')
    await ann.page.getByRole('button', { name: 'Try again' }).click()
    await ann.page.getByText('There are no agents in the catalog.').waitFor()
    await ann.close()
  })
})
