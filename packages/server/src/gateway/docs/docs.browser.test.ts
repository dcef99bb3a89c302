import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { after, before, describe, test } from 'node:test'
import { skipWithoutChromium, startTestBrowser, startTestServer } from '@atrium/web/share/start-test-browser'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const ours = [
  '/',
  '/docs/guides/quickstart',
  '/docs/guides/sessions',
  '/docs/guides/webhooks',
  '/docs/errors',
  '/docs/errors/not_found',
]
const more = ['/docs/payments', '/docs/storage', '/docs/master-key', '/docs/turn', '/docs/verification', '/docs/agents']

describe('the documentation in Chromium', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
  let browser: Browser
  let api: TestApi
  before(async () => {
    browser = await startTestBrowser()
    api = await startTestApi()
  })
  after(async () => {
    await browser?.close()
    await api?.close()
  })

  /** Watches for errors, broken policies and requests to elsewhere. */
  async function openPage(
    path: string,
    options: BrowserContextOptions = {},
    { origin } = api,
  ): Promise<{ page: Page; problems: string[] }> {
    const context = await browser.newContext(options)
    const problems: string[] = []
    await context.exposeFunction('reportViolation', (what: string) => void problems.push(what))
    await context.addInitScript(
      "document.addEventListener('securitypolicyviolation', (e) => reportViolation(e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sourceFile))",
    )
    const page = await context.newPage()
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== origin) problems.push(request.url())
    })
    await page.goto(origin + path)
    return { page, problems }
  }

  for (const [path, shown, hidden] of [
    ['/docs', 'addItem', 'getEarnings'],
    ['/docs/full', 'getEarnings', 'noSuchOperation'],
  ] as const) {
    test(`${path} shows its document, and an operation opens, within a policy without unsafe words`, async () => {
      const { page, problems } = await openPage(path)
      const operation = page.locator(`[id$="-${shown}"]`)
      await operation.waitFor()
      assert.equal(await page.locator(`[id$="-${hidden}"]`).count(), 0)
      await operation.locator('button').first().click()
      await operation.locator('.opblock-body').getByText('Responses').first().waitFor()
      assert.deepEqual(problems, [])
      const policy = (await fetch(api.origin + path)).headers.get('content-security-policy') ?? ''
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
      assert.doesNotMatch(policy, /unsafe|https?:|\*/)
      await page.context().close()
    })
  }

  test('the document cannot be chosen by the address', async () => {
    const { page, problems } = await openPage(
      '/docs?url=https://elsewhere.example/openapi.json&configUrl=https://elsewhere.example/c',
    )
    await page.locator('[id$="-addItem"]').waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a request is tried out against this installation', async () => {
    // A port that was free a moment ago.
    const probe = await startTestServer(() => undefined)
    const { port } = new URL(probe.origin)
    probe.stop()
    const here = await startTestApi({ port, publicUrl: `http://127.0.0.1:${port}` })
    const { publishableKey } = await here.makeTenant()
    const { page, problems } = await openPage('/docs', {}, here)
    await page.locator('.auth-wrapper').getByRole('button', { name: 'Authorize' }).click()
    await page.locator('.modal-ux input').first().fill(publishableKey)
    await page.locator('.modal-ux').getByRole('button', { name: 'Apply' }).first().click()
    await page.locator('.modal-ux').getByRole('button', { name: 'Close' }).first().click()
    const operation = page.locator('[id$="-listCatalog"]')
    await operation.locator('button').first().click()
    await operation.getByRole('button', { name: 'Try it out' }).click()
    const answered = page.waitForResponse((res) => res.url().includes('/v1/catalog'))
    await operation.getByRole('button', { name: 'Execute' }).click()
    assert.equal((await answered).status(), 200)
    assert.deepEqual(problems, [])
    await page.context().close()
    await here.close()
  })

  test('axe finds nothing in our own pages, and they fit a small phone; light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const path of [...ours, ...more]) {
        const { page, problems } = await openPage(path, { colorScheme, viewport: { width: 320, height: 640 }, isMobile: true })
        await page.evaluate(axe)
        const found = await page.evaluate('axe.run().then((r) => r.violations.map((v) => [v.id, v.nodes.map((n) => n.html)]))')
        assert.deepEqual(found, [], `${path} ${colorScheme}`)
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, path)
        assert.deepEqual(problems, [])
        await page.context().close()
      }
    }
  })

  test('around the reference axe finds nothing: what it finds is inside Swagger UI', async (t) => {
    const { page } = await openPage('/docs', { viewport: { width: 390, height: 844 }, isMobile: true })
    await page.locator('[id$="-addItem"]').waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    await page.evaluate(axe)
    const found = (root: string) =>
      page.evaluate<string[]>(`axe.run(${root}).then((r) => r.violations.map((v) => v.id + ' (' + v.impact + ')'))`)
    assert.deepEqual(await found("{ exclude: ['.swagger-ui'] }"), [])
    t.diagnostic(`inside Swagger UI: ${(await found("{ include: ['.swagger-ui'] }")).join(', ')}`)
    await page.context().close()
  })

  test('with the keyboard: the first step leads past the navigation, and long lines of code can be scrolled', async () => {
    const { page } = await openPage('/docs/guides/quickstart', { viewport: { width: 390, height: 844 } })
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content')
    await page.keyboard.press('Enter')
    await page.locator('#content:focus').waitFor()
    await page.locator('pre').nth(1).focus()
    assert.equal(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'solid')
    await page.keyboard.press('ArrowRight')
    await until(async () => Number(await page.evaluate('document.activeElement.scrollLeft')) > 0)
    await page.context().close()
  })

  test('every link between the pages leads to one', async () => {
    const seen = new Set<string>()
    const queue = ['/']
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      if (seen.has(path)) continue
      seen.add(path)
      const res = await fetch(api.origin + path, { headers: { accept: 'text/html' } })
      assert.equal(res.status, 200, path)
      if (!res.headers.get('content-type')?.startsWith('text/html')) continue
      for (const [, href] of (await res.text()).matchAll(/href="(\/[^"#]*)/g)) queue.push(href!)
    }
    for (const path of [...ours, ...more, '/docs', '/docs/full', '/docs/errors/upload_mismatch'])
      assert.ok(seen.has(path) || path === '/docs/agents', path)
  })
})

/** The pages' policy forbids what waits inside them. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 5_000; !(await holds());) assert.ok(Date.now() < deadline)
}
