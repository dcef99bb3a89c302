import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { findProgram, skipWithout } from '../../../../tests/support/skip-without.ts'

// The headless shell is the same engine without a desktop's browser around it: a third faster.
const CHROMIUM = process.env['CHROMIUM_PATH'] ?? findProgram('chromium-headless-shell') ?? findProgram('chromium')

/** Why browser tests cannot run here; false when they can. For `test(..., { skip })`. */
export const skipWithoutChromium: string | false =
  CHROMIUM === undefined ? skipWithout('chromium-headless-shell') : !existsSync(CHROMIUM) && `no Chromium at ${CHROMIUM}`

// As root in a container there is no sandbox to have; the rest keeps the browser from calling home, so that every
// request a test sees is the page's.
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

interface Watch {
  /** The origins that the page may request. */
  mayAsk: (url: URL) => boolean
  /** Console errors that the test causes on purpose. */
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
