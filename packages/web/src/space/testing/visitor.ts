import assert from 'node:assert/strict'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import type { TestSpace } from './start-space.ts'

/** A person with a separate browser context, and the errors in it. */
export interface Visitor {
  readonly page: Page
  readonly context: BrowserContext
  /** Unexpected scripts, policy violations, requests to other origins, and errors of the page. */
  readonly trouble: string[]
  /** The address and body of every request. Only those to the endpoint may contain the room's key. */
  readonly sent: { url: string; body: string }[]
  close(): Promise<void>
}

export async function newVisitor(browser: Browser, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const trouble: string[] = []
  const sent: Visitor['sent'] = []
  await context.exposeFunction('canary', () => void trouble.push('a script ran'))
  await context.exposeFunction('reportViolation', (what: string) => void trouble.push(`policy: ${what}`))
  // Runs in the page before any of its code, outside its policy.
  await context.addInitScript(
    "document.addEventListener('securitypolicyviolation', (e) => reportViolation(e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample))",
  )
  const page = await context.newPage()
  context.on('request', (request) => {
    const url = request.url()
    sent.push({ url, body: request.postData() ?? '' })
    if (!/^(blob:)?http:\/\/(localhost|127\.0\.0\.1):/.test(url)) trouble.push(`stranger: ${url}`)
  })
  context.on('dialog', (dialog) => {
    trouble.push('a dialog')
    void dialog.dismiss()
  })
  context.on('weberror', (error) => trouble.push(`error: ${error.error().message}`))
  context.on('console', (message) => {
    if (/Content Security Policy|Refused to|TrustedHTML|TrustedScript/i.test(message.text())) trouble.push(message.text())
  })
  return { page, context, trouble, sent, close: () => context.close() }
}

export function assertNoTrouble({ trouble }: Visitor): void {
  assert.deepEqual(trouble, [])
}

/** Makes an open room that agents can join, as a person would. Resolves to the parts of its link. */
export async function makeRoom(page: Page, space: TestSpace, title = ''): Promise<{ room: string; mk: string; link: string }> {
  await page.goto(`${space.origin}/space`)
  await page.getByLabel('People with the link, and agents').check()
  if (title !== '') await page.getByLabel('Title').fill(title)
  await page.getByRole('button', { name: 'Make the room' }).click()
  await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
  const link = page.url()
  const [, room = '', mk = ''] = /#([^.]+)\.(.+)$/.exec(link) ?? []
  return { room, mk, link }
}

/** Writes a message, and waits until the composer has handed it over: then it is in the list, or waits to be sent. */
export async function write(page: Page, text: string): Promise<void> {
  const field = page.getByLabel('Message', { exact: true })
  await field.fill(text)
  await field.press('Enter')
  if (text.trim() === '') return
  await explained([{ page }], page.locator('#message:placeholder-shown').waitFor())
}

/** The message whose own text contains this one. The time of a message runs into its text: "3:29" and "9: so" would contain "99:". */
export function message(page: Page, text: string): Locator {
  return page.locator('.message', { has: page.locator('.text', { hasText: text }) })
}

/** Waits for something in a page. If that fails, the error has what each of these visitors sees. */
export async function explained<T>(visitors: readonly Pick<Visitor, 'page'>[], wait: Promise<T>): Promise<T> {
  try {
    return await wait
  } catch (error) {
    const views = visitors.map(async ({ page }) => {
      const view = await page.locator('body').ariaSnapshot({ timeout: 2_000 }).catch(String)
      return `${page.url()}\n${view}`
    })
    throw new Error([String(error), ...(await Promise.all(views))].join('\n\n'), { cause: error })
  }
}

/** Makes a client-sealed room: what the form has chosen unasked. */
export async function makeSealedRoom(page: Page, origin: string): Promise<{ room: string; mk: string; link: string }> {
  await page.goto(`${origin}/space`)
  await page.getByRole('button', { name: 'Make the room' }).click()
  await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
  const [, room = '', mk = ''] = /#([^~]+)~(.+)$/.exec(page.url()) ?? []
  assert.match(mk, /^[\w-]{43}$/)
  return { room, mk, link: page.url() }
}

/**
 * Makes a room with a list of devices, whose owner is the visitor and is called Ann. `addresses`: of the people who are
 * invited at once. Resolves to its link.
 */
export async function makeListedRoom(page: Page, origin: string, addresses = ''): Promise<string> {
  await page.goto(`${origin}/space`)
  await page.getByLabel('Only people on a list').check()
  await page.getByLabel('Your name').fill('Ann')
  await page.getByLabel('Their e-mail addresses').fill(addresses)
  await page.getByRole('button', { name: 'Make the room' }).click()
  await page.getByRole('heading', { name: 'The room is ready' }).waitFor()
  return page.url()
}

/** Opens the list of a room that nobody has written in yet. */
export async function openList(page: Page): Promise<void> {
  await page.locator('.empty').getByRole('button', { name: 'People' }).click()
  // The panel takes the focus when its code is there.
  await page.getByRole('heading', { name: 'On the list' }).waitFor()
}
