import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

export const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }

/** Asserts that nothing overflows the screen and that every button is large enough for a thumb. */
export async function assertFitsPhone(page: Page, what: string): Promise<void> {
  const width = await page.evaluate(() =>
    Math.max(...[...document.querySelectorAll('html, .scroller, .sheet-body, .room')].map((element) => element.scrollWidth)),
  )
  assert.ok(width <= PHONE.viewport.width, `${what}: ${width}`)
  const small = await page.evaluate(() =>
    [...document.querySelectorAll('button:not(.link-button):not(.quote), input')]
      .filter((element) => element.checkVisibility())
      .map((element) => [element.outerHTML.slice(0, 80), element.getBoundingClientRect()] as const)
      .filter(([html, { width, height }]) => width > 0 && (width < 30 || height < 30) && !html.includes('radio'))
      .map(([html]) => html),
  )
  assert.deepEqual(small, [], what)
}
