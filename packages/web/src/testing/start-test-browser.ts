import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { findProgram, skipWithout } from '../../../../tests/support/skip-without.ts'

// The headless shell has the same engine without the rest of a desktop browser. It is a third faster.
const CHROMIUM = process.env['CHROMIUM_PATH'] ?? findProgram('chromium-headless-shell') ?? findProgram('chromium')

/** The reason why browser tests cannot run here, or false if they can. For `test(..., { skip })`. */
export const skipWithoutChromium: string | false =
  CHROMIUM === undefined ? skipWithout('chromium-headless-shell') : !existsSync(CHROMIUM) && `no Chromium at ${CHROMIUM}`

// As root in a container, Chromium cannot use its sandbox. The other options keep the browser from sending requests
// of its own, so that a test sees only the requests of the page.
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function startTestBrowser(): Promise<Browser> {
  return chromium.launch({ ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }), args: FLAGS })
}

/** A time zone where it is noon, for a page that says today: a day that ends during a test is yesterday. */
export function zoneAtNoon(): string {
  const hours = new Date().getUTCHours() - 12
  // These names have the sign of what is to be added for UTC.
  return `Etc/GMT${hours < 0 ? '-' : '+'}${Math.abs(hours)}`
}

interface Watch {
  /** The origins that the page may request. */
  mayAsk: (url: URL) => boolean
  /** Console errors that the test causes deliberately. */
  expected: RegExp
}

/**
 * A page that records executed code (calls of `canary`, dialogs), errors, policy violations and requests to other
 * origins.
 */
export async function openWatchedPage(
  browser: Browser,
  { mayAsk, expected }: Watch,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext(options)
  const problems: string[] = []
  await context.exposeFunction('canary', () => void problems.push('code ran'))
  const page = await context.newPage()
  page.on('dialog', (dialog) => {
    problems.push('dialog')
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (message.type() === 'error' && !expected.test(message.text())) problems.push(message.text())
  })
  page.on('request', (request) => {
    if (!mayAsk(new URL(request.url()))) problems.push(request.url())
  })
  return { page, problems }
}

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
/**
 * axe measures contrast at the current opacity, so elements that fade in must be fully visible. Endless animations
 * continue.
 */
const FINISH_ANIMATIONS = `for (const animation of document.getAnimations())
  if (Number.isFinite(animation.effect.getComputedTiming().endTime)) animation.finish()`

/** Fails with what axe finds in the page. `contrast` checks colours alone, for a second colour scheme. */
export async function assertAccessible(page: Page, what?: string, rules: 'all' | 'contrast' = 'all'): Promise<void> {
  // A policy keeps out what the page evaluates, but not what its debugger does.
  await page.evaluate(FINISH_ANIMATIONS)
  await page.evaluate(axe)
  const found = await page.evaluate<unknown>(
    `axe.run(${rules === 'contrast' ? "{ runOnly: ['color-contrast'] }" : ''})
      .then((r) => r.violations.map((v) => [v.id, v.nodes.map((n) => n.html.slice(0, 200) + n.failureSummary)]))`,
  )
  assert.deepEqual(found, [], what)
}

/** An HTTP server on a free loopback port. */
export async function startTestServer(
  answer: (req: IncomingMessage, res: ServerResponse) => void,
): Promise<{ origin: string; stop: () => void }> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
