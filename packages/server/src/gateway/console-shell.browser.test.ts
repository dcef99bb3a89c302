import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { skipWithoutChromium } from '@atrium/web/testing/start-test-browser'
import type { Page } from 'playwright-core'
import { phone, startConsoleInChromium, type ConsoleInChromium } from '#testing/console-in-chromium.ts'

describe('the frame of the console', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let world: ConsoleInChromium
  before(async () => {
    world = await startConsoleInChromium()
  })
  after(() => world?.close())

  test('on a phone, the menu takes the focus, gives it back, and is closed when the focus goes on', async () => {
    const { page, problems } = await world.open('/keys', phone)
    const menu = page.getByRole('button', { name: 'Menu' })
    const drawer = page.locator('.side.open')
    const isFocused = (page: Page, selector: string) => page.evaluate<boolean>(`document.activeElement.matches('${selector}')`)
    await menu.focus()
    await page.keyboard.press('Enter')
    await drawer.waitFor()
    assert.ok(await isFocused(page, '.side a'))
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    assert.ok(await isFocused(page, '[aria-controls=navigation]'), 'the focus is at the button again')

    await page.keyboard.press('Enter')
    await drawer.waitFor()
    await page.getByRole('button', { name: 'Sign out' }).focus()
    await page.keyboard.press('Tab')
    await drawer.waitFor({ state: 'detached' })
    assert.ok(await isFocused(page, 'main *'))

    await menu.focus()
    await page.keyboard.press('Enter')
    await drawer.getByRole('link', { name: 'Usage' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    await drawer.waitFor({ state: 'detached' })
    assert.ok(await isFocused(page, 'main'))
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a page that could not be loaded offline is there when the connection is back', async () => {
    const { page } = await world.open('/collections', { expected: /ERR_INTERNET_DISCONNECTED/ })
    await page.context().setOffline(true)
    await page.locator('nav a', { hasText: 'Usage' }).click()
    await page.getByText('could not be loaded').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    await page.getByText('could not be loaded').waitFor({ state: 'detached' })
    await page.context().close()
  })
})
