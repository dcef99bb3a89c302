import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { askGood, call } from './support/call-api.ts'
import { until } from './support/embedded-installation.ts'
import { startConsoleWorld, type ConsoleWorld } from './support/console-world.ts'
import { KeyboardUser } from './support/keyboard-user.ts'
import { epochBody } from './support/matrix-world.ts'

/** Nothing here uses a mouse: only keys are pressed, and what has the focus decides what they do. */
describe('the console by keyboard alone', { skip: skipWithoutChromium, timeout: 290_000 }, () => {
  let world: ConsoleWorld
  let browser: Browser
  let page: Page
  let user: KeyboardUser
  before(async () => {
    browser = await startTestBrowser()
    world = await startConsoleWorld()
    user = await enter({ kind: 'tenant', tenant_id: world.tenant.id })
    page = user.page
  })
  after(async () => {
    await browser?.close()
    await world?.close()
  })

  /** Signs in with a one-time link. */
  const enter = async (body: object) => {
    const { origin } = world.atrium
    const { data } = await askGood(origin, 'POST /v1/operator/console-links', { operator: true, body })
    const context = await browser.newContext({
      locale: 'en-GB',
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
      viewport: { width: 1_280, height: 800 },
    })
    const someone = new KeyboardUser(await context.newPage())
    await someone.page.goto(data.url)
    await someone.page.getByRole('button', { name: 'Open the console' }).waitFor()
    await someone.choose('Open the console')
    await someone.page.getByRole('heading', { name: 'Overview' }).waitFor()
    return someone
  }
  const go = async (keys: string, heading: string) => {
    await user.press(...keys)
    await user.page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor()
    await user.page.locator('main .loading').first().waitFor({ state: 'detached' })
  }
  const said = (text: string | RegExp) => user.page.locator('.toast', { hasText: text }).first().waitFor()

  test('the first step leads past the navigation', async () => {
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await user.choose('Skip to the content')
    await user.isBackInPage()
  })

  test('a key is created, rotated and revoked', async () => {
    await go('gk', 'Keys')
    await user.press('n')
    await user.isAt('Kind')
    await user.reach('Name')
    await user.type('by keyboard')
    await user.press('Enter')
    const key = await user.store()
    assert.equal((await call(world.atrium.origin, 'GET /v1/tenant', { key })).status, 200)
    await user.isBackInPage()
    // The newest key is the first row, whose buttons are reached first.
    const rows = page.locator('tr', { hasText: 'by keyboard' })
    await rows.first().waitFor()
    await user.choose('Rotate')
    await user.page.getByRole('dialog', { name: 'Rotate by keyboard' }).waitFor()
    await user.isAt('Name of the new key')
    await user.choose('Rotate the key')
    const rotated = await user.store()
    assert.equal((await call(world.atrium.origin, 'GET /v1/tenant', { key: rotated })).status, 200)
    await rows.nth(1).waitFor()
    // The old key has an end: it offers no rotation any more.
    await user.isAt('Revoke')
    await user.press('Enter')
    await user.confirm('Revoke the key')
    await said('The key is revoked')
    await user.isBackInPage()
  })

  test('items are curated, opened, and the focus is at the item again', async () => {
    await go('gc', 'Collections')
    await user.choose('Lantern night')
    await page.locator('.item').nth(20).waitFor()
    await user.press('j')
    // The name of an item ends with its state.
    const { name } = await user.focused()
    const first = (state: string) => name.replace(/\(.*\)$/, `(${state})`)
    await user.press('j', 'j', 'k', 'k')
    await user.isAt(first('not approved'))
    await user.press('a')
    await said(/^Approved/)
    await user.isAt(first('approved'))
    await user.press('o')
    await page.getByRole('dialog').waitFor()
    await user.press('Escape')
    await user.isAt(first('approved'))
    await user.press('u')
    await said('Undone')
    await user.isAt(first('not approved'))
    await user.choose('Approved')
    await user.isAt('Approved')
  })

  test('an agent is registered and edited', async () => {
    await go('ga', 'Agents')
    await user.press('n')
    await user.isAt('Name')
    await user.type('Night watch')
    await user.reach('Description')
    await user.type('Says what the weather will be.')
    await user.choose('Register the agent')
    await user.isBackInPage()
    await user.choose('Night watch')
    await page.getByRole('heading', { name: 'Night watch' }).waitFor()
    await user.choose('Edit')
    await user.isAt('Name')
    await user.press('End')
    await user.type(' of the pier')
    await user.press('Enter')
    await page.getByRole('heading', { name: 'Night watch of the pier' }).waitFor()
    await user.isAt('Edit')
  })

  test('a webhook endpoint is made and tested; a delivery is sent again, and then all of them', async () => {
    await go('gw', 'Webhooks')
    await user.press('n')
    await user.isAt('Address')
    await user.type(`${world.hooks}/good`)
    await user.reach('Description')
    await user.type('By keyboard')
    await user.press('Enter')
    await user.store()
    await user.isBackInPage()
    await user.choose(/Orders and the warehouse|warehouse/)
    await page.getByRole('heading', { name: 'Orders and the warehouse' }).waitFor()
    await user.choose('Send a test event')
    await said('Not delivered: status 500')
    await user.isAt('Send a test event')
    await user.choose('Send failed ones again')
    await user.isAt('Of events since')
    const since = page.getByLabel('Of events since')
    const dayBefore = await since.inputValue()
    await since.fill('20260-01-01T00:00')
    await user.press('Enter')
    await page.getByText('This is not a date.').waitFor()
    await page.getByRole('button', { name: 'Copy as curl: Send again' }).click()
    await said('The command cannot be made: a field is missing or wrong.')
    await since.fill(dayBefore)
    await user.choose('Send again')
    await said(/sent again$/)
    await user.isAt('Send failed ones again')
    await user.choose('Resend')
    await said('It is sent again')
    await user.isAt('Resend')
  })

  test('a request is found in the log by its id, and copied as curl', async () => {
    const refused = await call(world.atrium.origin, 'GET /v1/collections/col_0000000000000000000000', {
      key: world.tenant.secret,
    })
    const id = String(refused.headers['x-request-id'])
    await user.press('Control+k')
    await user.isAt('Search and commands')
    await user.type(id)
    await page.getByRole('option', { name: 'Find the request' }).waitFor()
    await user.press('Enter')
    await page.getByRole('region', { name: 'The request' }).getByText('not_found').waitFor({ timeout: 15_000 })
    await user.isBackInPage()
    await user.choose('Copy as curl: list these requests')
    await said('Copied as curl')
    assert.match(await page.evaluate<string>('navigator.clipboard.readText()'), new RegExp(`^curl '.*request_id=${id}`))
    await user.isAt('Copy as curl: list these requests')
  })

  test('a coupon is granted, and an epoch is published', async () => {
    await go('gm', 'Credits')
    await user.choose('Grant a coupon')
    await user.isAt('Credits')
    await user.press('Control+a')
    await user.type('7')
    await user.press('Enter')
    assert.match(await user.store(), /^cpn_/)
    await user.isBackInPage()
    await user.choose('Epochs')
    await user.choose('Publish an epoch')
    await user.isAt('Public key (JWK)')
    await user.type(JSON.stringify(epochBody().public_key))
    await user.choose('Publish')
    await user.confirm('Publish the epoch')
    await said('The epoch is published')
    await user.isAt('Publish an epoch')
  })

  test('a member is invited, gets another role, and is removed', async () => {
    await go('gt', 'Settings')
    await user.choose('Members')
    await user.choose('Invite a member')
    await user.isAt('E-mail address')
    await user.type('zoe@harbour.example')
    await user.reach('Role')
    await user.press('ArrowDown', 'ArrowDown')
    await user.choose('Make the invitation')
    assert.match(await user.store(), /#link=/)
    await user.isAt('Invite a member')
    const row = page.locator('tr', { hasText: 'zoe@harbour.example' })
    await row.getByText('developer').waitFor()
    // The newest is the last row: backwards from the start of the page its buttons are the first.
    await page.reload()
    await row.waitFor()
    await user.reach('Edit', 'Shift+Tab')
    await user.press('Enter')
    await page.getByRole('dialog', { name: 'Edit zoe@harbour.example' }).waitFor()
    await user.reach('Role')
    await user.press('ArrowDown')
    await user.choose('Save')
    await row.getByText('moderator').waitFor()
    await user.isAt('Edit')
    await user.choose('Remove')
    await page.getByRole('dialog', { name: 'Remove zoe@harbour.example?' }).waitFor()
    await user.confirm('Remove the member')
    await row.waitFor({ state: 'detached' })
    await user.isBackInPage()
  })

  test('an operator creates a tenant, sets its limits, suspends it, and makes an invite', async () => {
    user = await enter({ kind: 'operator' })
    await go('gt', 'Tenants')
    await user.press('n')
    await user.isAt('Name')
    await user.type('Bell Foundry')
    await user.press('Enter')
    await user.store()
    await user.page.getByRole('heading', { name: 'Bell Foundry' }).waitFor()
    await user.choose('Change the limits')
    await user.isAt('Rate limits, % of the default')
    await user.type('50')
    await user.press('Enter')
    await user.page.getByText('set here').waitFor()
    await user.isAt('Change the limits')
    await user.reach('Suspend', 'Shift+Tab')
    await user.press('Enter')
    await user.confirm('Suspend Bell Foundry')
    await user.page.getByText('suspended', { exact: true }).waitFor()
    await user.isBackInPage()
    await go('gi', 'Invites')
    await user.press('n')
    await user.isAt('Sign-ups')
    await user.press('Enter')
    await user.store()
    await user.isBackInPage()
    await user.choose('Revoke')
    await user.confirm('Revoke the invite')
    await said('The invite is revoked')
    await user.isBackInPage()
    await user.page.context().close()
  })

  test('everywhere is signed out of, and the console asks for a sign-in', async () => {
    user = new KeyboardUser(page)
    await go('gt', 'Settings')
    await user.choose('Signed-in browsers')
    await user.choose('Sign out everywhere')
    await page.getByText('You came by a one-time link').waitFor()
    await user.confirm('Sign out everywhere')
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor()
    await page.getByText('You are signed out in every browser.').waitFor()
    await page.getByText(`console-link --tenant ${world.tenant.id}`).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor()
  })

  test('an owner exports all data, and deletes the tenant after typing its name', async () => {
    user = await enter({ kind: 'tenant', tenant_id: world.tenant.id })
    await go('gt', 'Settings')
    await user.reach('Export all data')
    const [file] = await Promise.all([user.page.waitForEvent('download'), user.press('Enter')])
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n')
    assert.ok(lines.some((line) => line.startsWith('{"table":"collections"')))
    assert.match(lines.at(-1) ?? '', /^\{"end":true,/)
    await user.isAt('Export all data')
    await user.choose('Delete the tenant')
    await user.isAt(/^Type Harbour Lights to confirm/)
    await user.press('Enter')
    assert.equal((await call(world.atrium.origin, 'GET /v1/tenant', { key: world.tenant.secret })).status, 200)
    await user.type('Harbour Lights')
    await user.press('Enter')
    await user.page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
    // Each process learns of a suspension by a notification.
    await until(
      async () => {
        const { code } = await call(world.atrium.origin, 'GET /v1/tenant', { key: world.tenant.secret })
        return code === 'tenant_suspended'
      },
      'the tenant is suspended',
      15_000,
    )
  })
})
