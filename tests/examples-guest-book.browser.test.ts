import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { HOSTILE_TEXTS } from '../packages/web/src/testing/hostile-values.ts'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, makeTenant } from './support/call-api.ts'
import { createApp, makeFolder, skipWithoutNpm, startExample, type RunningExample } from './support/example.ts'

/** Without those that the API refuses itself. */
const hostileTexts = HOSTILE_TEXTS.filter(
  (text) => text.isWellFormed() && !text.includes('\0') && text.trim() === text && text.length < 16_000,
)
/** The oldest Node here: the app is for Node 20. */
const node = existsSync('/usr/bin/node') ? '/usr/bin/node' : process.execPath

describe(
  'the guest book, as the command begins it',
  { skip: skipWithoutChromium || skipWithoutNpm, timeout: 120_000, concurrency: false },
  () => {
    let database: TestDatabase
    let atrium: AtriumProcess
    let browser: Browser
    let place: Awaited<ReturnType<typeof makeFolder>>
    let example: RunningExample
    let key: string
    let book: { id: string; ownerToken: string; writeToken: string }
    let port: number
    let app: string
    const problems: string[] = []

    before(async () => {
      database = await createTestDatabase()
      ;[atrium, browser, place] = await Promise.all([
        startAtrium({ databaseUrl: database.url }),
        startTestBrowser(),
        makeFolder(),
      ])
      key = (await makeTenant(atrium.origin)).publishable
      port = await freePort()
      app = join(place.folder, 'my-app')
      await createApp(app, atrium.origin, node)
      const manifest = JSON.parse(await readFile(join(app, 'package.json'), 'utf8'))
      assert.equal(manifest.name, 'my-app')
      assert.deepEqual(manifest.dependencies, { '@atrium/client': `${atrium.origin}/downloads/atrium-client.tgz` })
      assert.match(await readFile(join(app, '.gitignore'), 'utf8'), /^guest-book\.json$/m)
      example = await start([key])
      book = JSON.parse(await readFile(join(app, 'guest-book.json'), 'utf8'))
    })
    after(async () => {
      await example?.end()
      await browser?.close()
      await atrium?.end('SIGKILL')
      await database?.drop()
      await place?.remove()
    })

    function start(args: string[] = []) {
      const env = { PORT: String(port) }
      return startExample(app, /For guests.*#write=cct_/, { args, env, node })
    }

    async function open(fragment: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
      const context = await browser.newContext(options)
      await context.exposeFunction('canary', () => void problems.push('code ran'))
      await context.addInitScript(
        "document.addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective))",
      )
      const page = await context.newPage()
      page.on('pageerror', (error) => problems.push(error.message))
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
      page.on('request', (request) => {
        const { origin } = new URL(request.url())
        if (origin !== `http://localhost:${port}` && origin !== atrium.origin) problems.push(request.url())
      })
      await page.goto(`http://localhost:${port}/${fragment}`)
      await page.getByRole('heading', { level: 1, name: 'Guest book' }).waitFor()
      return page
    }

    test('a guest signs with the keyboard alone, and a reader and the wall see it without a reload', async () => {
      const reader = await open('')
      const wall = await browser.newPage()
      await wall.goto(`${atrium.origin}/v1/collections/${book.id}/wall`)
      await reader.getByText('Nothing yet').waitFor()
      assert.ok(await reader.getByRole('textbox', { name: 'Your words' }).isHidden(), 'a reader cannot write')

      const guest = await open(`#write=${book.writeToken}`, { viewport: { width: 390, height: 844 } })
      await guest.getByRole('textbox', { name: 'Your words' }).focus()
      await guest.keyboard.type('What a night on the pier')
      await guest.keyboard.press('Tab')
      await guest.keyboard.type('Ada')
      await guest.keyboard.press('Tab')
      await guest.keyboard.press('Enter')
      for (const page of [guest, reader, wall]) await page.getByText('What a night on the pier', { exact: true }).waitFor()
      await reader.getByRole('status').filter({ hasText: 'Ada wrote' }).waitFor()
      assert.equal(await guest.getByRole('textbox', { name: 'Your words' }).inputValue(), '')
      await Promise.all([reader.context().close(), wall.close(), guest.context().close()])
    })

    test('what the owner hides disappears from every page', async () => {
      const reader = await open('')
      const owner = await open(`#owner=${book.ownerToken}`)
      await owner.getByRole('textbox', { name: 'Your words' }).fill('Written by mistake')
      await owner.getByRole('button', { name: 'Sign' }).click()
      await reader.getByText('Written by mistake').waitFor()
      assert.equal(await reader.getByRole('button', { name: /^Hide/ }).count(), 0)
      await owner.locator('li', { hasText: 'by mistake' }).getByRole('button', { name: 'Hide' }).click()
      for (const page of [reader, owner]) await page.getByText('Written by mistake').waitFor({ state: 'detached' })
      await Promise.all([reader.context().close(), owner.context().close()])
    })

    test('hostile entries are text, older entries come by page, and axe finds nothing', async () => {
      for (const text of hostileTexts) {
        const body = { type: 'message', content: { text }, author: [...text].slice(0, 100).join('') }
        await askGood(atrium.origin, `POST /v1/collections/${book.id}/items`, { key, token: book.writeToken, body })
      }
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await open(`#write=${book.writeToken}`, { colorScheme, viewport: { width: 390, height: 844 } })
        await page.getByRole('button', { name: 'Older entries' }).click()
        const seen = () => page.locator('#entries p').allTextContents()
        await page.getByText('What a night').waitFor()
        assert.deepEqual((await seen()).toReversed().slice(1), hostileTexts)
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, 'nothing is wider than a phone')
        await assertAccessible(page)
        await page.emulateMedia({ colorScheme, media: 'print' })
        assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(255, 255, 255)', 'printed')
        await page.context().close()
      }
      assert.deepEqual(problems, [])
    })

    test('an entry that changes does not come to the top, also if it is on a page that was not read', async () => {
      const items = `/v1/collections/${book.id}/items`
      const asOwner = { key, token: book.ownerToken }
      const { data } = await askGood(atrium.origin, `GET ${items}/open?order=oldest&limit=1`, { key })
      const oldest = (data as unknown as { id: string }[])[0]!
      const page = await open('')
      await page.locator('#entries li').nth(29).waitFor()
      await askGood(atrium.origin, `PATCH ${items}/${oldest.id}`, { ...asOwner, body: { hero: true } })
      const body = { type: 'message', content: { text: 'The newest of all' } }
      await askGood(atrium.origin, `POST ${items}`, { ...asOwner, body })
      await page.getByText('The newest of all').waitFor()
      assert.equal(await page.locator('#entries p').first().textContent(), 'The newest of all')
      assert.equal(await page.locator(`#${oldest.id}`).count(), 0)
      await page.getByRole('button', { name: 'Older entries' }).click()
      await page.locator(`#${oldest.id}`).waitFor()
      assert.equal(await page.locator('#entries li').last().getAttribute('id'), oldest.id)
      await page.context().close()
      assert.deepEqual(problems, [])
    })

    test('a list that cannot be read once does not end the following', async () => {
      const page = await open('')
      await page.locator('#entries li').nth(29).waitFor()
      const shown = await page.locator('#entries li').count()
      let isRefused = true
      await page.route(/\/items\/open\?/, (route) =>
        isRefused
          ? route.fulfill({ status: 400, json: { error: { code: 'invalid_request', message: 'Refused once' } } })
          : route.continue(),
      )
      await page.reload()
      await page.getByRole('alert').filter({ hasText: 'Refused once' }).waitFor()
      isRefused = false
      const body = { type: 'message', content: { text: `After ${shown} entries` } }
      await askGood(atrium.origin, `POST /v1/collections/${book.id}/items`, { key, token: book.writeToken, body })
      await page.getByText(`After ${shown} entries`).waitFor()
      await page.context().close()
      problems.length = 0
    })

    test('a refused entry stays in the form, and the page says why', async () => {
      const page = await open('#write=cct_wrong')
      await page.getByRole('textbox', { name: 'Your words' }).fill('Let me in')
      await page.getByRole('button', { name: 'Sign' }).click()
      await page.getByRole('alert').filter({ hasText: /token/ }).waitFor()
      assert.equal(await page.getByRole('textbox', { name: 'Your words' }).inputValue(), 'Let me in')
      await page.context().close()
      problems.length = 0
    })

    test('a second start opens the same book, and serves nothing but the page', async () => {
      await example.end()
      example = await start()
      assert.ok(example.output().includes(book.writeToken))
      for (const path of ['/../guest-book.json', '/..%2fguest-book.json', '/%2e%2e/package.json', '/client', '//', '/%00']) {
        const answer = await fetch(`http://localhost:${port}${path}`)
        assert.equal(answer.status, 404, path)
        assert.doesNotMatch(await answer.text(), /cat_/)
      }
    })
  },
)
