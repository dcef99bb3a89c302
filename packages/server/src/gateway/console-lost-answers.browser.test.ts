import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { skipWithoutChromium } from '@atrium/web/testing/start-test-browser'
import type { Page } from 'playwright-core'
import { issuerAccount, platformAccount, transactionId } from '#features/credits/ledger/movement.ts'
import { startConsoleInChromium, type ConsoleInChromium } from '#testing/console-in-chromium.ts'
import { send } from '#testing/http.ts'

/** The server has done what a form asked for, and the page does not know. */
describe('forms of the console whose answer is lost', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let world: ConsoleInChromium
  before(async () => {
    world = await startConsoleInChromium()
  })
  after(() => world?.close())

  /** Each request arrives, and none of its answers. Ends when the form shows that. */
  async function loseAnswers(page: Page, path: string, press: () => Promise<void>): Promise<void> {
    await page.route(path, async (route) => {
      if (route.request().method() === 'GET') return route.continue()
      await route.fetch()
      return route.abort()
    })
    await press()
    await page.getByRole('alert').getByText('network_error').waitFor({ timeout: 20_000 })
    await page.unroute(path)
  }
  const open = (path: string) => world.open(path, { expected: /ERR_FAILED/ })
  const list = async (path: string) => (await send(world.api, 'GET', path, { key: world.tenant.secretKey })).body.data
  const named = async (path: string, text: string) => JSON.stringify(await list(path)).split(text).length - 1

  test('a key that is asked for again is the same key; with another name it is another', async () => {
    const { page } = await open('/keys')
    await page.getByRole('button', { name: 'New key' }).first().click()
    const name = page.getByLabel('Name', { exact: true })
    const create = page.getByRole('button', { name: 'Create the key', exact: true })
    await name.fill('asked for twice')
    await loseAnswers(page, '**/v1/tenant/keys', () => create.click())
    assert.equal(await name.inputValue(), 'asked for twice')
    await create.click()
    await page.getByRole('button', { name: 'Done' }).waitFor()
    assert.equal(await named('/tenant/keys', 'asked for twice'), 1)
    await page.getByLabel('I have stored it').check()
    await page.getByRole('button', { name: 'Done' }).click()

    await page.getByRole('button', { name: 'New key' }).first().click()
    await name.fill('first thought')
    await loseAnswers(page, '**/v1/tenant/keys', () => create.click())
    await name.fill('second thought')
    await create.click()
    await page.getByRole('button', { name: 'Done' }).waitFor()
    assert.equal(await named('/tenant/keys', 'first thought'), 1)
    assert.equal(await named('/tenant/keys', 'second thought'), 1)
    await page.context().close()
  })

  test('a member who is invited again is the same member, with the link of the first invitation', async () => {
    const { page, problems } = await open('/settings/members')
    await page.getByRole('button', { name: 'Invite a member' }).click()
    await page.getByLabel('E-mail address', { exact: true }).fill('ada@harbour.example')
    await page.getByLabel('Role').selectOption('analyst')
    const invite = page.getByRole('button', { name: 'Make the invitation', exact: true })
    await loseAnswers(page, '**/v1/tenant/members', () => invite.click())
    await invite.click()
    await page.getByRole('dialog', { name: 'The invitation' }).getByText('#link=').waitFor()
    assert.equal(await named('/tenant/members', 'ada@harbour.example'), 1)
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a collection that is asked for again is the same collection, and a choice that is changed makes another', async () => {
    const { page } = await open('/collections')
    await page.getByRole('button', { name: 'New collection' }).first().click()
    const create = page.getByRole('button', { name: 'Make the collection', exact: true })
    await page.getByRole('dialog').getByLabel('Title', { exact: true }).fill('Lost and found')
    await loseAnswers(page, '**/v1/collections', () => create.click())
    await create.click()
    await page.getByRole('heading', { name: 'The collection is made' }).waitFor()
    await page.getByLabel('I have stored it').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'Lost and found' }).waitFor()
    const made = async () => (await list('/collections?q=Lost')).length
    assert.equal(await made(), 1)

    await page.goto(`${world.api.origin}/console/collections`)
    await page.getByRole('button', { name: 'New collection' }).first().click()
    await page.getByRole('dialog').getByLabel('Title', { exact: true }).fill('Lost and changed')
    await loseAnswers(page, '**/v1/collections', () => create.click())
    await page.getByLabel('Who may add items').selectOption('token')
    await create.click()
    await page.getByText('Contributor token', { exact: true }).waitFor()
    await page.context().close()
  })

  test('a collection that is changed to take a token, and is saved again, shows the token that it has', async () => {
    const { id } = await world.makeCollection([])
    const { page } = await open(`/collections/${id}/settings`)
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await page.getByLabel('Who may add items').selectOption('token')
    await loseAnswers(page, `**/v1/collections/${id}`, () => save.click())
    await save.click()
    const dialog = page.getByRole('dialog', { name: 'The new tokens' })
    const secret = await dialog.locator('code').innerText()
    const body = { type: 'wish', content: { text: 'with the token' } }
    const key = world.tenant.publishableKey
    const added = await send(world.api, 'POST', `/collections/${id}/items`, { key, collectionToken: secret, body })
    assert.equal(added.status, 201)
    await page.context().close()
  })

  test('a title that is saved again after another one has the first text, although no answer arrived in between', async () => {
    const { id } = await world.makeCollection([])
    const { page } = await open(`/collections/${id}/settings`)
    const title = page.getByLabel('Title', { exact: true })
    const save = page.getByRole('button', { name: 'Save', exact: true })
    for (const text of ['Lantern evening', 'Lantern morning']) {
      await title.fill(text)
      await loseAnswers(page, `**/v1/collections/${id}`, () => save.click())
    }
    await title.fill('Lantern evening')
    await save.click()
    await page.getByText('Saved', { exact: true }).waitFor()
    const { data } = (await send(world.api, 'GET', `/collections/${id}`, { key: world.tenant.publishableKey })).body
    assert.equal(data.metadata.share_title, 'Lantern evening')
    await page.context().close()
  })

  test('a coupon whose memo was changed and changed back is the same coupon, and takes its credits once', async () => {
    const { page } = await open('/credits')
    const { id } = world.tenant
    await world.api.ctx.ledger.add({
      type: 'transfer',
      id: transactionId('test', 'coupon'),
      kind: 'prefund',
      from: platformAccount,
      to: issuerAccount(id),
      amountCredits: 20,
      actor: id,
    })
    const balance = async () => (await list('/wallets/issuer')).balance
    await page.getByRole('button', { name: 'Grant a coupon' }).first().click()
    const grant = page.getByRole('button', { name: 'Grant the coupon', exact: true })
    const memo = page.getByLabel('Memo', { exact: true })
    await memo.fill('for Ann')
    await loseAnswers(page, '**/v1/wallets/grant', () => grant.click())
    await memo.press('End')
    await memo.press('x')
    await memo.press('Backspace')
    await grant.click()
    await page.getByLabel('I have stored it').check()
    assert.equal(await balance(), 15)
    await page.getByRole('button', { name: 'Done' }).click()

    // While the answer is on its way, the form cannot be closed. What arrives after the page was left is shown.
    const answered = Promise.withResolvers<void>()
    await page.route('**/v1/wallets/grant', (route) => answered.promise.then(() => route.continue()))
    await page.getByRole('link', { name: 'Checkouts' }).click()
    await page.getByRole('button', { name: 'Grant a coupon' }).first().click()
    const asked = page.waitForRequest('**/v1/wallets/grant')
    await grant.click()
    await asked
    const form = page.getByRole('dialog', { name: 'Grant a coupon' })
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
    await page.mouse.click(2, 2)
    await form.getByRole('button', { name: 'Close', disabled: true }).waitFor()
    await form.getByRole('button', { name: 'Cancel', disabled: true }).waitFor()
    await page.goBack()
    await form.waitFor({ state: 'detached' })
    answered.resolve()
    const coupon = page.getByRole('dialog', { name: 'The coupon' }).getByText(/^cpn_/)
    await coupon.waitFor()
    await page.goForward()
    await page.getByRole('heading', { name: 'Credits' }).waitFor({ state: 'attached' })
    assert.ok(await coupon.isVisible())
    assert.equal(await balance(), 10)
    await page.context().close()
  })

  test('an epoch whose publication is cancelled and confirmed after a lost answer is published once', async () => {
    const { page } = await open('/credits/epochs')
    const pair = await crypto.subtle.generateKey(
      { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2_048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
      true,
      ['sign', 'verify'],
    )
    const { kty, n, e } = await crypto.subtle.exportKey('jwk', pair.publicKey)
    await page.getByRole('button', { name: 'Publish an epoch' }).click()
    await page.getByLabel('Public key (JWK)').fill(JSON.stringify({ kty, n, e }))
    const publish = page.getByRole('button', { name: 'Publish', exact: true })
    const question = page.getByRole('dialog', { name: 'Publish the epoch?' })
    const sure = question.getByRole('button', { name: 'Publish the epoch', exact: true })
    await publish.click()
    await loseAnswers(page, '**/v1/epochs', () => sure.click())
    await publish.click()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await publish.click()
    await sure.click()
    await page.getByText('The epoch is published').waitFor()
    assert.equal((await list('/epochs?limit=200')).length, 1)
    await page.context().close()
  })

  test('without https, where a browser makes no random UUID, the form of a coupon opens', async () => {
    const { page, problems } = await open('/credits')
    await page.addInitScript('delete Crypto.prototype.randomUUID')
    await page.reload()
    await page.getByRole('button', { name: 'Grant a coupon' }).first().click()
    await page.getByRole('dialog', { name: 'Grant a coupon' }).waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })
})
