import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { makeSealedRoom, newVisitor } from './testing/visitor.ts'

/**
 * Bytes of HTML, scripts, styles and pictures, each compressed alone with gzip, as a proxy in front of the service does. A
 * room also has the worker that opens its lines. What a panel needs is loaded with the panel: `later` of components/later.tsx.
 */
const MOST_BYTES = { 'the start page': 68_600, 'an open room': 82_900 }

describe('what a browser loads for the first view', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startRealSpace()])
  })
  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  /** The compressed size of each file of the app that the page asks for until it rests. */
  async function sizesOf(page: Page, link: string, isShown: () => Promise<void>): Promise<Map<string, number>> {
    const sizes = new Map<string, number>()
    const bodies: Promise<unknown>[] = []
    const isFile = (path: string) => path === '/space' || path.startsWith('/space/')
    let [asked, newestAt] = [0, 0]
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (request.method() !== 'GET' || !isFile(pathname)) return
      asked++
      const read = async () => {
        const response = await request.response()
        if (response) sizes.set(pathname, gzipSync(await response.body()).length)
        newestAt = performance.now()
      }
      bodies.push(read().finally(() => asked--))
    })
    // What is fetched ahead for panels that are opened later does not count: a timer of more than a second begins it.
    await page.addInitScript(
      '{ const start = setTimeout; globalThis.setTimeout = (run, ms, ...args) => (ms > 1_000 ? 0 : start(run, ms, ...args)) }',
    )
    await page.goto(link)
    await isShown()
    // A file may ask for others.
    do await page.waitForTimeout(50)
    while (asked > 0 || performance.now() - newestAt < 500)
    await Promise.all(bodies)
    return sizes
  }

  const views: Record<keyof typeof MOST_BYTES, (page: Page) => Promise<[link: string, shown: () => Promise<void>]>> = {
    'the start page': async (page) => [
      `${space.origin}/space`,
      () => page.getByRole('button', { name: 'Make the room' }).waitFor(),
    ],
    'an open room': async (page) => {
      const ann = await newVisitor(browser)
      const { link } = await makeSealedRoom(ann.page, space.origin)
      await ann.close()
      return [link, () => page.getByRole('textbox').first().waitFor()]
    },
  }
  for (const name of ['the start page', 'an open room'] as const)
    test(`${name}: at most ${MOST_BYTES[name]} bytes`, async (t) => {
      const { page, ...visitor } = await newVisitor(browser)
      const sizes = await sizesOf(page, ...(await views[name](page)))
      const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
      const list = [...sizes].sort((a, b) => b[1] - a[1]).map(([path, size]) => `${size} ${path}`)
      t.diagnostic(`${total} bytes: ${list.join(', ')}`)
      assert.ok(sizes.size >= 3, 'the files were counted')
      assert.ok(total <= MOST_BYTES[name], `${total} bytes:\n${list.join('\n')}`)
      await visitor.close()
    })
})
