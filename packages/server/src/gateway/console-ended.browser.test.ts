import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertAccessible, skipWithoutChromium } from '@atrium/web/share/start-test-browser'
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

    const other = await page.context().newPage()
    const link = await consoleLink(world.api, { kind: 'tenant', tenant_id: world.tenant.id })
    await other.goto(`${world.api.origin}/console${new URL(link.url).hash}`)
    await other.getByRole('button', { name: 'Open the console' }).click()
    await other.getByRole('heading', { name: 'Overview' }).waitFor()
    await other.close()
    // A headless browser keeps no tab hidden.
    await page.evaluate("dispatchEvent(new Event('focus'))")

    await page.getByRole('button', { name: 'Create the key', exact: true }).waitFor()
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'made before the end')
    await page.getByRole('button', { name: 'Create the key', exact: true }).click()
    await page
      .getByText(/wpk_|wsk_/)
      .first()
      .waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })
})
