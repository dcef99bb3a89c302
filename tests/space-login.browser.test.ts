import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { startOidcProvider, type OidcProvider } from './support/oidc-provider.ts'

describe(
  'a room with a list, its app, the certified bundle and a real OpenID provider',
  {
    skip: skipWithoutChromium,
    timeout: 240_000,
  },
  () => {
    let database: TestDatabase
    let provider: OidcProvider
    let atrium: AtriumProcess
    let browser: Browser
    before(async () => {
      const spacePort = await freePort()
      database = await createTestDatabase()
      provider = await startOidcProvider({ redirectUris: [`http://localhost:${spacePort}/space`] })
      atrium = await startAtrium({
        databaseUrl: database.url,
        space: true,
        spacePort,
        env: { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: provider.clientId },
      })
      browser = await startTestBrowser()
    })
    after(async () => {
      await browser?.close()
      await atrium?.end()
      await provider?.close()
      await database?.drop()
    })

    const signIn = async (page: Page, email: string) => {
      await page.getByRole('button', { name: /^Sign in with/ }).click()
      // Waits for the provider's own page, because the app has a field with the same name.
      await page.waitForURL((url) => url.origin === new URL(provider.issuer).origin)
      await page.getByLabel('E-mail', { exact: true }).fill(email)
      await page.getByLabel('Name', { exact: true }).fill(email.split('@')[0]!)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    const visit = async () => (await browser.newContext({ locale: 'en-GB' })).newPage()

    test('the owner creates it, members of the list write in it, and others with the link get the reason', async () => {
      const [ann, bob, eve] = await Promise.all([visit(), visit(), visit()])
      await untilSpaceAnswers(atrium.spacesOrigin)
      await ann.goto(`${atrium.spacesOrigin}/space`)
      await ann.getByLabel('People on a list, and agents').check()
      await ann.getByLabel('Title').fill('Only us')
      await ann.getByLabel('Their e-mail addresses').fill('bob@example.com')
      await signIn(ann, 'ann@example.com')
      await ann.getByRole('button', { name: 'Make the room' }).click()
      await ann.getByRole('heading', { name: 'The room is ready' }).waitFor()
      const link = ann.url()

      await bob.goto(link)
      await signIn(bob, 'bob@example.com')
      await bob.getByRole('heading', { name: 'Only us' }).waitFor()
      await bob.getByRole('textbox').last().fill('Here I am')
      await bob.keyboard.press('Enter')
      await ann.locator('.message', { hasText: 'Here I am' }).waitFor()

      await eve.goto(link)
      await signIn(eve, 'eve@example.com')
      await eve.getByRole('heading', { name: 'You are not on the list' }).waitFor()
      assert.equal(await eve.getByText('Here I am').count(), 0)
    })
  },
)

async function untilSpaceAnswers(origin: string): Promise<void> {
  const deadline = Date.now() + 20_000
  for (;;) {
    const up = await fetch(`${origin}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (up) return
    assert.ok(Date.now() < deadline, 'the Space service did not come')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
