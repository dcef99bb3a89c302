import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

const IS_SETTLED = `
  document.querySelector('main h1') !== null &&
  document.querySelectorAll('.loading, main [aria-busy="true"]').length === 0 &&
  [...document.querySelectorAll('.chart')].every((chart) => chart.querySelector('canvas'))`

/** Waits until the page of the console shows what it loads, with its charts. */
export async function settleConsole(page: Page): Promise<void> {
  // Not waitForFunction: it evaluates in the page, which the policy of the console refuses.
  for (const deadline = Date.now() + 15_000; !(await page.evaluate<boolean>(IS_SETTLED)); await page.waitForTimeout(20))
    assert.ok(Date.now() < deadline, `${page.url()} is still loading`)
}
