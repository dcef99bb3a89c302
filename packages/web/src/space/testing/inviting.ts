import { randomBytes } from 'node:crypto'
import { makeCredential, makeId } from '@atrium/contract/tokens'
import type { Locator, Page } from 'playwright-core'
import type { CatalogAgent } from '../api/platform-api.ts'
import type { StubApi } from './stub-api.ts'

/** The reason why tests that invite agents cannot run, or false if they can. */
export const skipWithoutApi: string | false =
  process.env['SPACE_TESTS_REAL'] === 'on' ? 'the Space service alone has no API to invite agents through' : false

/** Puts an agent into the catalog; gives its id. */
export function addAgent(api: StubApi, name = 'Lamplighter', more: Partial<CatalogAgent> = {}): string {
  const id = makeId('agent', randomBytes)
  const [description, rating] = [`${name} tells of lamps.`, { average: 4.6, count: 31 }]
  api.agents.push({ id, name, description, price_credits: 5, max_minutes: 30, hosting: 'hosted', rating, ...more })
  return id
}

/** Adds a coupon with that many credits; without a number, an unknown coupon. */
export function addCoupon(api: StubApi, credits?: number): string {
  const coupon = makeCredential('coupon', randomBytes)
  if (credits !== undefined) api.coupons.set(coupon, credits)
  return coupon
}

export async function openCatalog(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'People', exact: true }).click()
  await page.getByRole('button', { name: 'Invite an agent' }).click()
  await page.getByRole('heading', { name: 'Invite an agent' }).waitFor()
}

export async function choose(page: Page, name = 'Lamplighter'): Promise<void> {
  await openCatalog(page)
  await page.getByRole('button', { name: `Choose ${name}` }).click()
}

export async function pay(page: Page, coupon: string): Promise<void> {
  await page.getByLabel('Coupon').fill(coupon)
  await page.keyboard.press('Enter')
}

/** The line in the room about an agent that this tab invited. */
export function lineOf(page: Page, text: string): Locator {
  return page.locator('.invited li', { hasText: text })
}

/** The error message of the open sheet. */
export function problemIn(page: Page): Locator {
  return page.getByRole('dialog').getByRole('alert')
}
