import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { assertNoTrouble, newVisitor, write } from '../packages/web/src/space/testing/visitor.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, makeTenant, type TestTenant } from './support/call-api.ts'
import { grantCoupon } from './support/credits.ts'
import { fundIssuer } from './support/fund-issuer.ts'
import { startOidcProvider, type OidcProvider } from './support/oidc-provider.ts'

// Runs the published Space app in a browser that enforces its policy, against the API at another origin, with the
// limits of a real installation.
describe('an agent invited in the browser', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let database: TestDatabase
  let provider: OidcProvider
  let atrium: AtriumProcess
  let browser: Browser
  let tenant: TestTenant

  before(async () => {
    database = await createTestDatabase()
    // The key of a tenant that exists before the Space service starts.
    const before = await startAtrium({ databaseUrl: database.url })
    tenant = await makeTenant(before.origin)
    await fundIssuer(before.origin, tenant.secret, 100)
    await before.end()
    const spacePort = await freePort()
    provider = await startOidcProvider({ redirectUris: [`http://localhost:${spacePort}/space`] })
    const env = {
      ATRIUM_SPACE_PUBLISHABLE_KEY: tenant.publishable,
      ATRIUM_RATE_LIMIT: '1',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
    }
    atrium = await startAtrium({ databaseUrl: database.url, space: true, spacePort, env })
    await makeAgent()
    browser = await startTestBrowser()
  })

  after(async () => {
    await browser?.close()
    await atrium?.end()
    await provider?.close()
    await database?.drop()
  })

  async function makeAgent(): Promise<void> {
    const manifest = {
      name: 'Lamplighter',
      description: 'Keeps one company.',
      instructions: '',
      price_credits: 5,
      max_minutes: 30,
    }
    const options = { key: tenant.secret, idempotencyKey: randomUUID(), body: manifest }
    const { data } = await askGood(atrium.origin, 'POST /agents', options)
    await askGood(atrium.origin, `PUT /agents/${data.id}/status`, { key: tenant.secret, body: { status: 'active' } })
  }

  async function walletOf(coupon: string): Promise<unknown> {
    return (await askGood(atrium.origin, 'POST /v1/wallets/lookup', { key: tenant.publishable, body: { wallet_code: coupon } }))
      .data
  }

  test('it is found in the catalog, comes, answers, is sent away, and has cost what it said', async () => {
    const coupon = await grantCoupon(atrium.origin, tenant.secret, 8)
    const ann = await newVisitor(browser)
    const { page } = ann
    await page.goto(`${atrium.spacesOrigin}/space`)
    await page.getByLabel('People with the link, and agents').check()
    await page.getByRole('button', { name: 'Make the room' }).click()
    await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
    await page.getByRole('button', { name: 'People', exact: true }).click()
    await page.getByRole('button', { name: 'Invite an agent' }).click()
    await page.getByRole('button', { name: 'Choose Lamplighter' }).click()
    const terms = await page.getByRole('link', { name: 'Who can read along' }).getAttribute('href')
    assert.match(await (await fetch(terms!)).text(), /who can read the messages/)
    await page.getByLabel('Coupon').fill(coupon)
    await page.getByRole('button', { name: 'Invite for 5 credits' }).click()
    const line = page.locator('.invited')
    await line.getByText('Lamplighter reads along until').waitFor()
    assert.deepEqual(await walletOf(coupon), { balance: 3, held: 5, currency: 'credits' })

    await write(page, 'Who lights the lamps?')
    const answer = page.locator('.message', { hasText: 'Lamplighter' }).filter({ hasText: 'Who lights the lamps?' })
    await answer.locator('.agent-mark').waitFor()
    await page.getByRole('button', { name: 'Send away Lamplighter' }).click()
    await line.getByText('has left. It cost 5 credits.').waitFor()
    assert.deepEqual(await walletOf(coupon), { balance: 3, held: 0, currency: 'credits' })

    await page.getByRole('button', { name: 'People', exact: true }).click()
    await page.getByRole('button', { name: 'Invite an agent' }).click()
    await page.getByRole('button', { name: 'Choose Lamplighter' }).click()
    await page.getByLabel('Coupon').fill(coupon)
    await page.keyboard.press('Enter')
    await page.getByText('This coupon does not pay for it').waitFor()
    assertNoTrouble(ann)
    await ann.close()
  })

  test('into a room with a list it comes once the owner has let it in, there and then', async () => {
    const coupon = await grantCoupon(atrium.origin, tenant.secret, 5)
    const ann = await newVisitor(browser)
    const { page } = ann
    await page.goto(`${atrium.spacesOrigin}/space`)
    await page.getByLabel('People on a list, and agents').check()
    await page.getByRole('button', { name: /^Sign in with/ }).click()
    await page.waitForURL((url) => url.origin === new URL(provider.issuer).origin)
    await page.getByLabel('E-mail', { exact: true }).fill('ann@example.com')
    await page.getByLabel('Name', { exact: true }).fill('Ann')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Make the room' }).click()
    await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
    await page.getByRole('button', { name: 'People', exact: true }).click()
    await page.getByRole('button', { name: 'Invite an agent' }).click()
    await page.getByRole('button', { name: 'Choose Lamplighter' }).click()
    await page.getByLabel('Coupon').fill(coupon)
    await page.keyboard.press('Enter')
    await page.getByText('is not on this room’s list').waitFor()
    assert.deepEqual(await walletOf(coupon), { balance: 5, held: 0, currency: 'credits' })
    await page.getByRole('button', { name: 'Let it in, and invite it' }).click()
    await page.locator('.invited').getByText('Lamplighter reads along until').waitFor()
    await write(page, 'Good evening')
    await page.locator('.message', { hasText: 'Lamplighter' }).filter({ hasText: 'Good evening' }).waitFor()
    await page.getByRole('button', { name: 'Send away Lamplighter' }).click()
    await page.locator('.invited').getByText('has left. It cost 5 credits.').waitFor()
    assertNoTrouble(ann)
    await ann.close()
  })
})
