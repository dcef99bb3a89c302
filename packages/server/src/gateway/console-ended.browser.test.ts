import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertAccessible, skipWithoutChromium } from '@atrium/web/testing/start-test-browser'
import type { Page } from 'playwright-core'
import { consoleLink } from '#testing/console.ts'
import { phone, startConsoleInChromium, type ConsoleInChromium } from '#testing/console-in-chromium.ts'

describe('a session that ends while the console is open', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let world: ConsoleInChromium
  before(async () => {
    world = await startConsoleInChromium()
  })
  after(() => world?.close())

  const expected = /status of 401/
  /** Goes to a page, whose requests are then refused. */
  const end = async (page: Page) => {
    await page.context().clearCookies()
    await page.locator('nav a', { hasText: 'Keys' }).first().dispatchEvent('click')
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
  }

  const signInInAnotherTab = async (page: Page, tenantId: string) => {
    const other = await page.context().newPage()
    const link = await consoleLink(world.api, { kind: 'tenant', tenant_id: tenantId })
    await other.goto(`${world.api.origin}/console${new URL(link.url).hash}`)
    await other.getByRole('button', { name: 'Open the console' }).click()
    await other.getByRole('heading', { name: 'Overview' }).waitFor()
    await other.close()
  }

  test('the command for a new link fits a phone with text of twice the size', async () => {
    const { page, problems } = await world.open('/', { expected })
    await end(page)
    await page.setViewportSize(phone.viewport)
    await page.evaluate("document.documentElement.style.fontSize = '200%'")
    await page.getByText(world.tenant.id).last().waitFor()
    assert.equal(
      await page.evaluate('document.querySelector(".sign-in").scrollWidth <= document.querySelector(".sign-in").clientWidth'),
      true,
    )
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('what was typed in a form is there again after a sign-in in another tab, and can be sent', async () => {
    const { page, problems } = await world.open('/keys', { expected })
    await page.getByRole('button', { name: 'New key' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('made before the end')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Create the key', exact: true }).click()
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
    await page.getByText('What you have typed is kept').waitFor()
    await assertAccessible(page, 'the session has ended')
    // Nothing of the tenant is visible, and Escape does not change that.
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
    const covered = `document.elementFromPoint(innerWidth / 2, 5).closest('.shell') === null`
    assert.ok(await page.evaluate<boolean>(covered))

    await signInInAnotherTab(page, world.tenant.id)
    // A headless browser keeps no tab hidden.
    await page.evaluate("dispatchEvent(new Event('focus'))")

    await page.getByRole('button', { name: 'Create the key', exact: true }).waitFor()
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'made before the end')
    await page.getByRole('button', { name: 'Create the key', exact: true }).click()
    await page
      .getByText(/w[ps]k_[0-9A-Za-z]{36}/)
      .first()
      .waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a secret that arrives after the end is covered, and is there after a sign-in in another tab', async () => {
    const { page, problems } = await world.open('/keys', { expected })
    const [created, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/v1/tenant/keys', async (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      const response = await route.fetch()
      created.resolve()
      await answered.promise
      return route.fulfill({ response })
    })
    await page.getByRole('button', { name: 'New key' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('answered after the end')
    await page.getByRole('button', { name: 'Create the key', exact: true }).click()
    // Another action of the page finds the session ended meanwhile.
    await created.promise
    await page.context().clearCookies()
    await page.locator('button', { hasText: 'Revoke' }).first().dispatchEvent('click')
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
    answered.resolve()
    await page.getByRole('button', { name: 'Done' }).waitFor({ state: 'attached' })

    // Fails if something else is in front of it.
    await page.getByRole('heading', { name: 'Your session has ended' }).click({ trial: true })
    assert.ok(await page.evaluate<boolean>(`document.activeElement.closest('dialog').matches('.ended')`))

    await signInInAnotherTab(page, world.tenant.id)
    await page.evaluate("dispatchEvent(new Event('focus'))")
    await page.getByLabel('I have stored it').check()
    await page.getByRole('button', { name: 'Done' }).click()
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('the list of signed-in browsers is covered too, and whoever signs out then is signed out', async () => {
    const { page, problems } = await world.open('/settings/members', { expected })
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()

    const other = await world.open('/settings/members', { expected })
    await other.page.context().clearCookies()
    await other.page.getByRole('link', { name: 'Signed-in browsers' }).click()
    await other.page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
    await other.page.context().close()
  })

  test('the covered page is not printed, and an open question is gone after a sign-in for another tenant', async () => {
    const { page } = await world.open('/keys', { expected })
    await page.getByRole('button', { name: 'Revoke' }).first().click()
    await page.getByRole('button', { name: 'Revoke the key' }).waitFor()
    await page.context().clearCookies()
    await page.locator('nav a', { hasText: 'Usage' }).first().dispatchEvent('click')
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.locator('.shell').isVisible(), false)
    await page.emulateMedia({ media: 'screen' })

    const stranger = await world.api.makeTenant('Stranger')
    await signInInAnotherTab(page, stranger.id)
    await page.evaluate("dispatchEvent(new Event('focus'))")

    await page.getByText('Stranger').first().waitFor({ state: 'attached' })
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Revoke the key' }).count(), 0)
    await page.context().close()
  })

  test('a page whose session was replaced in another tab continues with the new one', async () => {
    const { page } = await world.open('/keys', { expected: /status of 40[13]/ })
    await page.getByRole('button', { name: 'New key' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('made before the change')
    await signInInAnotherTab(page, world.tenant.id)

    const create = page.getByRole('button', { name: 'Create the key', exact: true })
    await create.click()
    // The server refuses the first attempt. The page then loads the new session.
    await page.getByRole('alert').first().waitFor()
    await create.click()
    await page
      .getByText(/w[ps]k_[0-9A-Za-z]{36}/)
      .first()
      .waitFor()
    await page.context().close()
  })
})
