import { ensureConsole } from '@atrium/web/build/ensure-console'
import { openWatchedPage, startTestBrowser } from '@atrium/web/testing/start-test-browser'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { consoleLink } from './console.ts'
import { send } from './http.ts'
import { startTestApi, type TestApi, type TestTenant } from './test-api.ts'

/** An installation with one tenant, and a browser in which its owner and an operator are signed in to the console. */
export interface ConsoleInChromium {
  api: TestApi
  tenant: TestTenant
  /** Opens a page of the console. `problems`: errors of the page, and what it must not have asked. */
  open(path: string, options?: OpenOptions): Promise<{ page: Page; problems: string[] }>
  /** Makes a collection with an item for each text. Returns the ids of the items, in the order of the texts. */
  makeCollection(texts: readonly string[]): Promise<{ id: string; token: string; itemIds: string[] }>
  close(): Promise<void>
}

interface OpenOptions extends BrowserContextOptions {
  as?: 'tenant' | 'operator'
  /** Errors that the test causes deliberately. */
  expected?: RegExp
}

export const phone = { viewport: { width: 390, height: 844 } }

export async function startConsoleInChromium(settings: Parameters<typeof startTestApi>[0] = {}): Promise<ConsoleInChromium> {
  const [browser, api] = await Promise.all([startTestBrowser(), startTestApi(settings), ensureConsole()])
  const tenant = await api.makeTenant('Harbour')
  const signedIn = new Map<string, NonNullable<BrowserContextOptions['storageState']>>()

  const signIn = async (kind: 'tenant' | 'operator') => {
    const link = await consoleLink(api, kind === 'operator' ? { kind } : { kind, tenant_id: tenant.id })
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${api.origin}/console${new URL(link.url).hash}`)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    signedIn.set(kind, await context.storageState())
    await context.close()
  }

  return {
    api,
    tenant,
    async open(path, { as = 'tenant', expected = /(?!)/, ...options } = {}) {
      if (!signedIn.has(as)) await signIn(as)
      const storageState = signedIn.get(as)
      const mayAsk = (url: URL) => url.origin === api.origin || url.protocol === 'blob:'
      const watched = await openWatchedPage(
        browser,
        { mayAsk, expected },
        { reducedMotion: 'reduce', locale: 'en-GB', ...(storageState && { storageState }), ...options },
      )
      watched.page.on('pageerror', (error) => watched.problems.push(error.message))
      watched.page.setDefaultTimeout(10_000)
      await watched.page.goto(`${api.origin}/console${path}`)
      await watched.page.locator('main h1').waitFor()
      return watched
    },
    async makeCollection(texts) {
      const key = tenant.secretKey
      const body = { metadata: { share_title: 'Lantern night' }, wall: true, item_access: 'open' }
      const made = await send(api, 'POST', '/collections', { key, body })
      const { id, admin_token: token } = made.body.data
      const itemIds: string[] = []
      for (const text of texts) {
        const item = { type: 'message', content: { text }, author: 'Ada' }
        itemIds.push((await send(api, 'POST', `/collections/${id}/items`, { key, body: item })).body.data.id)
      }
      return { id, token, itemIds }
    },
    async close() {
      await browser.close()
      await api.close()
    },
  }
}
