import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

export interface WatchedPage {
  page: Page
  /**
   * Events that must not occur in a page: an error, a policy violation, a failed request, or one to another origin.
   */
  problems: string[]
  status: number
}

/** Opens the address in a separate window, and records events from the start. */
export async function openWatched(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext(options)
  const problems: string[] = []
  const { origin } = new URL(url)
  await context.exposeFunction('reportViolation', (what: string) => void problems.push(`policy: ${what}`))
  // Runs in the page before any of its code, outside its policy.
  await context.addInitScript(
    "document.addEventListener('securitypolicyviolation', (e) => reportViolation(e.violatedDirective + ' ' + e.blockedURI))",
  )
  const page = await context.newPage()
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
  page.on('console', (message) => {
    const at = message.location().url
    // Chromium reports this for a 404 page itself, and once for an icon that the page does not name.
    if (at === url || at === `${origin}/favicon.ico`) return
    if (message.type() === 'error') problems.push(`console: ${message.text()} ${at}`)
  })
  page.on('requestfailed', (request) => problems.push(`failed: ${request.url()}`))
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) problems.push(`foreign: ${request.url()}`)
  })
  const res = await page.goto(url, { waitUntil: 'networkidle' })
  return { page, problems, status: res?.status() ?? 0 }
}
