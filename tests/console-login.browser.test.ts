import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { makeTenant } from './support/call-api.ts'
import { inviteMember, openConsole } from './support/role-cells.ts'
import { startOidcProvider, type OidcProvider } from './support/oidc-provider.ts'

describe('the console with a real OpenID provider', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let database: TestDatabase
  let provider: OidcProvider
  let atrium: AtriumProcess
  let browser: Browser
  before(async () => {
    const port = await freePort()
    database = await createTestDatabase()
    provider = await startOidcProvider({
      clientId: 'console',
      redirectUris: [`http://localhost:${port}/console/oidc/callback`],
      isVerified: (email) => email !== 'unverified@harbour.example',
    })
    atrium = await startAtrium({
      databaseUrl: database.url,
      port,
      role: 'api',
      env: { ATRIUM_CONSOLE_OIDC_ISSUER: provider.issuer, ATRIUM_CONSOLE_OIDC_CLIENT_ID: provider.clientId },
    })
    browser = await startTestBrowser()
  })
  after(async () => {
    await browser?.close()
    await atrium?.end()
    await provider?.close()
    await database?.drop()
  })

  const visit = async () => (await browser.newContext({ locale: 'en-GB' })).newPage()
  type Visit = Awaited<ReturnType<typeof visit>>
  /** Fills in the page of the provider. */
  const identify = async (page: Visit, email: string) => {
    await page.waitForURL((url) => url.origin === new URL(provider.issuer).origin)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Name').fill('Ada')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL((url) => url.origin === atrium.origin)
  }

  test('an invited account becomes a member and signs in again by itself; another account does not', async () => {
    const tenant = await makeTenant(atrium.origin)
    const owner = await openConsole(atrium.origin, tenant.id)
    const { invitation } = await inviteMember(atrium.origin, owner, 'developer', 'ada@harbour.example')

    const ada = await visit()
    await ada.goto(invitation.url)
    await ada.getByRole('button', { name: 'Open the console' }).click()
    await identify(ada, 'ada@harbour.example')
    await ada.getByRole('heading', { name: 'Overview' }).waitFor()
    await ada.getByText('developer', { exact: true }).waitFor()

    const again = await visit()
    await again.goto(`${atrium.origin}/console`)
    await again.getByRole('link', { name: 'Sign in with your account' }).click()
    await identify(again, 'ada@harbour.example')
    await again.getByRole('heading', { name: 'Overview' }).waitFor()

    const eve = await visit()
    await eve.goto(`${atrium.origin}/console`)
    await eve.getByRole('link', { name: 'Sign in with your account' }).click()
    await identify(eve, 'eve@harbour.example')
    await eve.getByText('This account belongs to no member.').waitFor()
    assert.equal(await eve.getByRole('heading', { name: 'Overview' }).count(), 0)
  })

  test('an address that the provider has not verified accepts no invitation', async () => {
    const tenant = await makeTenant(atrium.origin)
    const owner = await openConsole(atrium.origin, tenant.id)
    const { invitation } = await inviteMember(atrium.origin, owner, 'developer', 'unverified@harbour.example')
    const page = await visit()
    await page.goto(invitation.url)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await identify(page, 'unverified@harbour.example')
    await page.getByText('The sign-in did not succeed.').waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Overview' }).count(), 0)
  })
})
