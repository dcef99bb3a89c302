import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import {
  assertAccessible,
  openWatchedPage,
  skipWithoutChromium,
  startTestBrowser,
} from '../packages/web/src/testing/start-test-browser.ts'
import { askGood } from './support/call-api.ts'
import { pathsOfConsole } from './support/console-paths.ts'
import { startConsoleWorld, type ConsoleWorld } from './support/console-world.ts'
import { inviteMember, openConsole } from './support/role-cells.ts'
import { settleConsole } from './support/settle-console.ts'

/** Where pictures of all pages are stored, for a person to look at; absent: nowhere. */
const screenshots = process.env['ATRIUM_TEST_SCREENSHOTS']

const screens = [
  { name: 'wide-light', colorScheme: 'light', viewport: { width: 1_440, height: 900 } },
  { name: 'wide-dark', colorScheme: 'dark', viewport: { width: 1_440, height: 900 } },
  { name: 'phone-light', colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { name: 'phone-dark', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const

type Kind = 'tenant' | 'operator'

describe(
  'every page of the console, with data, on both widths, light and dark',
  {
    skip: skipWithoutChromium,
    timeout: 290_000,
  },
  () => {
    let world: ConsoleWorld
    let browser: Browser
    before(async () => {
      browser = await startTestBrowser()
      world = await startConsoleWorld()
      if (screenshots !== undefined) await mkdir(screenshots, { recursive: true })
    })
    after(async () => {
      await browser?.close()
      await world?.close()
    })

    // 503: the machine is busy, and the console asks again.
    const watch = async (options: BrowserContextOptions) => {
      const { origin } = new URL(world.atrium.origin)
      const opened = await openWatchedPage(
        browser,
        { mayAsk: (url) => url.origin === origin || url.protocol === 'blob:', expected: /status of 503/ },
        { reducedMotion: 'reduce', locale: 'en-GB', ...options },
      )
      opened.page.on('pageerror', (error) => opened.problems.push(error.message))
      return opened
    }
    const signIn = async (kind: Kind) => {
      const body = kind === 'operator' ? { kind } : { kind, tenant_id: world.tenant.id }
      const { data } = await askGood(world.atrium.origin, 'POST /v1/operator/console-links', { operator: true, body })
      return openLink(data.url)
    }
    const openLink = async (url: string) => {
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(url)
      await page.getByRole('button', { name: 'Open the console' }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      const state = await context.storageState()
      await context.close()
      return state
    }
    /** The address of a page with what it names. */
    const addressOf = (kind: Kind, path: string) => {
      const ids: Record<string, string> = {
        '/collections/:id': world.collection.id,
        '/agents/:id': world.agent,
        '/webhooks/:id': world.endpoint,
        '/tenants/:id': world.tenant.id,
        '/ledger/:id': world.audit,
      }
      const address = path.replace(/^(\/[^/]+\/:id)/, (named) => (ids[named] ? named.replace(':id', ids[named]) : named))
      assert.ok(!address.includes(':'), `${kind} ${path}: this test has no id for it`)
      return `${world.atrium.origin}/console${address === '/' ? '' : address}`
    }

    test('an address of a call that somebody types shows the page that is meant, also after a reload', async () => {
      const { page, problems } = await watch({ storageState: await signIn('tenant') })
      for (const [typed, heading] of [
        ['/sessions', 'Sessions'],
        ['/session', 'Overview'],
        ['/sign-in', 'Overview'],
      ] as const) {
        await page.goto(`${world.atrium.origin}/console${typed}`)
        await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
        await page.reload()
        await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
      }
      assert.deepEqual(problems, [])
      await page.context().close()
    })

    test('a page that a role may not open says so, and has no button to try again', async () => {
      const { origin } = world.atrium
      const { invitation } = await inviteMember(origin, await openConsole(origin, world.tenant.id), 'moderator')
      const { page, problems } = await watch({ storageState: await openLink(invitation.url) })
      for (const path of ['/keys', '/settings/audit-log']) {
        await page.goto(addressOf('tenant', path))
        await page.getByText('your role does not open this page').waitFor()
      }
      assert.deepEqual(problems, [])
      await page.context().close()
    })

    test('on a phone with letters of twice the size, nothing is cut off and no value is squeezed into a column', async () => {
      const { page, problems } = await watch({ ...screens[2], storageState: await signIn('tenant') })
      const paths = ['/collections/:id', '/collections/:id/settings', '/agents/:id', '/keys', '/webhooks/:id', '/events', '/logs']
      for (const path of [...paths, '/settings']) {
        await page.goto(addressOf('tenant', path))
        await settleConsole(page)
        await page.evaluate("document.documentElement.style.fontSize = '200%'")
        assert.deepEqual([...(await stickingOut(page)), ...(await overCard(page))], [], path)
        const squeezed = await page.evaluate(`[...document.querySelectorAll('.facts dd, .log b')].filter(
          (value) => value.getBoundingClientRect().width < 120).map((value) => value.textContent)`)
        assert.deepEqual(squeezed, [], path)
      }
      assert.deepEqual(problems, [])
      await page.context().close()
      const operator = await watch({ ...screens[2], storageState: await signIn('operator') })
      for (const path of pathsOfConsole('operator')) {
        await operator.page.goto(addressOf('operator', path))
        await settleConsole(operator.page)
        await operator.page.evaluate("document.documentElement.style.fontSize = '200%'")
        assert.deepEqual([...(await stickingOut(operator.page)), ...(await overCard(operator.page))], [], path)
      }
      await operator.page.context().close()
      const guest = await watch(screens[2])
      await guest.page.goto(`${world.atrium.origin}/console`)
      await guest.page.locator('.sign-in').waitFor()
      await guest.page.evaluate("document.documentElement.style.fontSize = '200%'")
      assert.deepEqual([...(await stickingOut(guest.page)), ...(await overCard(guest.page))], [])
      await guest.page.context().close()
    })

    test('beside the navigation of a small window, no table makes the page wider', async () => {
      for (const kind of ['tenant', 'operator'] as const) {
        const storageState = await signIn(kind)
        for (const width of [870, 1_024]) {
          const { page, problems } = await watch({ storageState, viewport: { width, height: 800 } })
          for (const path of pathsOfConsole(kind)) {
            await page.goto(addressOf(kind, path))
            await settleConsole(page)
            assert.deepEqual(await stickingOut(page), [], `${kind} ${path}, ${width} px`)
          }
          assert.deepEqual(problems, [])
          await page.context().close()
        }
      }
    })

    test('a page is printed on white, without buttons and navigation', async () => {
      const { page, problems } = await watch({ storageState: await signIn('tenant') })
      for (const path of ['/', '/collections/:id', '/keys']) {
        await page.goto(addressOf('tenant', path))
        await settleConsole(page)
        await page.emulateMedia({ media: 'print' })
        assert.equal(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor'), 'rgb(255, 255, 255)')
        // An id that can be copied is text.
        const left = page.locator('#app').locator('button:not(.copy-text), a.button, nav, input').filter({ visible: true })
        assert.deepEqual(await left.allInnerTexts(), [], path)
        await page.emulateMedia({ media: 'screen' })
      }
      assert.deepEqual(problems, [])
      await page.context().close()
    })

    test('a page that cannot be loaded keeps its heading, says so, and is loaded again', async () => {
      const { page } = await watch({ storageState: await signIn('tenant') })
      await page.route('**/v1/tenant', (route) => route.abort())
      await page.goto(addressOf('tenant', '/credits'))
      await page.getByRole('heading', { name: 'Credits', level: 1 }).waitFor()
      const failure = page.getByRole('alert')
      await failure.waitFor()
      await page.unroute('**/v1/tenant')
      await failure.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('heading', { name: 'Your balance' }).waitFor()
      await page.context().close()
    })

    for (const kind of ['tenant', 'operator'] as const) {
      test(`${kind}: no page has a finding of axe, a refused or foreign request, an error or a sideways scroll`, async () => {
        const storageState = await signIn(kind)
        for (const { name, ...screen } of screens) {
          const { page, problems } = await watch({ ...screen, storageState })
          for (const path of pathsOfConsole(kind)) {
            const what = `${kind} ${path}, ${name}`
            await page.goto(addressOf(kind, path))
            await settleConsole(page)
            assert.equal(await page.getByText('There is no such page').count(), 0, what)
            assert.deepEqual(await stickingOut(page), [], what)
            // By night a page differs in its colours alone.
            await assertAccessible(page, what, screen.colorScheme === 'light' ? 'all' : 'contrast')
            assert.deepEqual(problems, [], what)
            if (screenshots !== undefined) {
              const file = `${kind}${path === '/' ? '-overview' : path.replaceAll(/\W+/g, '-')}.${name}.png`
              await page.screenshot({ path: join(screenshots, file), fullPage: true })
            }
          }
          await page.context().close()
        }
      })
    }
  },
)

/** The cards and buttons with content that reaches beyond their right edge. */
function overCard(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll('.card, .sign-in, .button')].filter((box) =>
    box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === 'visible').map((box) => box.outerHTML.slice(0, 120))`)
}

/** What reaches beyond the right edge of the window, and cannot be scrolled to inside of its own frame. */
function stickingOut(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const scrolls = (element) => element && (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement))
    const out = [...document.querySelectorAll('body *')].filter((element) =>
      element.getBoundingClientRect().right > innerWidth + 0.5 && !scrolls(element.parentElement))
    const { scrollWidth } = document.documentElement
    const page = scrollWidth > innerWidth ? ['the page scrolls to ' + scrollWidth] : []
    return [...page, ...out.map((element) => element.outerHTML.slice(0, 120))]
  })()`)
}
