import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../../testing/start-test-browser.ts'

/** A page that shows what the hooks return. The test answers each request, in the order that it chooses. */
const app = `
import { h, render } from 'preact'
import { useQuery } from './use-query.ts'
import { usePages } from './use-pages.ts'

const asked = []
globalThis.asked = asked
const ask = (signal, cursor) => new Promise((resolve, reject) => {
  asked.push({ resolve, reject, cursor })
  signal.addEventListener('abort', () => reject(signal.reason))
})
function Query() {
  const query = useQuery('one', (signal) => ask(signal))
  globalThis.query = query
  return h('p', { id: 'query' }, query.error ? 'failed' : query.data ?? 'nothing')
}
function Pages() {
  const pages = usePages('list', ({ cursor }, signal) => ask(signal, cursor))
  globalThis.pages = pages
  return h('p', { id: 'pages' }, (pages.rows ?? []).map(({ id, text }) => id + text).join(' '))
}
render(h(globalThis.isList ? Pages : Query), document.body)
`

/** What the page has in its global scope, for the functions that run there. */
declare const asked: { resolve: (answer: unknown) => void; reject: (error: Error) => void; cursor?: string }[]
declare const query: { refresh: () => void; reload: () => void; set: (change: (data: string) => string) => void }
declare const pages: {
  refresh: (keyOf: (row: { id: string }) => string) => void
  refreshAll: () => void
  more: () => void
  reload: () => void
  retry: () => void
  error: unknown
  set: (change: (rows: { id: string; text: string }[]) => { id: string; text: string }[]) => void
}

describe('answers of a query that arrive late', { skip: skipWithoutChromium, timeout: 60_000 }, () => {
  let browser: Browser
  let script: string

  before(async () => {
    const stdin = { contents: app, resolveDir: import.meta.dirname, loader: 'ts' as const }
    const built = build({ stdin, bundle: true, format: 'iife', write: false })
    const [started, { outputFiles }] = await Promise.all([startTestBrowser(), built])
    browser = started
    script = outputFiles[0]!.text
  })
  after(() => browser?.close())

  async function open(isList = false): Promise<Page> {
    const page = await browser.newPage()
    await page.evaluate(`globalThis.isList = ${isList}`)
    await page.addScriptTag({ content: script })
    await untilAsked(page, 1)
    return page
  }
  const untilAsked = (page: Page, count: number) => page.waitForFunction((count) => asked.length === count, count)
  const answer = (page: Page, at: number, data: unknown) =>
    page.evaluate(([at, data]) => asked[at as number]?.resolve(data), [at, data])
  const refresh = (page: Page) => page.evaluate(() => query.refresh())
  /** What is shown once nothing more can change by itself. */
  const shown = async (page: Page, id = 'query') => {
    await page.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve), 20)))
    return page.locator(`#${id}`).textContent()
  }

  test('a refresh is asked for during the first load: its answer is the one that stays', async () => {
    const page = await open()
    await refresh(page)
    // If both were on their way, the newer answer would come first.
    await answer(page, 1, 'newer')
    await answer(page, 0, 'older')
    await untilAsked(page, 2)
    await answer(page, 1, 'newer')
    assert.equal(await shown(page), 'newer')
    await page.close()
  })

  test('a refresh after a write is sent, although one from before the write still runs', async () => {
    const page = await open()
    await answer(page, 0, 'before')
    await refresh(page)
    await untilAsked(page, 2)
    // Now the write is done.
    for (let times = 0; times < 3; times++) await refresh(page)
    await answer(page, 1, 'before')
    await untilAsked(page, 3)
    await answer(page, 2, 'after')
    assert.equal(await shown(page), 'after')
    assert.equal(await page.evaluate(() => asked.length), 3, 'one request for all that were asked for meanwhile')
    await page.close()
  })

  test('what was set after a write is not replaced by an answer from before it', async () => {
    const page = await open()
    await answer(page, 0, 'before')
    assert.equal(await shown(page), 'before')
    await refresh(page)
    await untilAsked(page, 2)
    await page.evaluate(() => query.set(() => 'set'))
    await answer(page, 1, 'before')
    assert.equal(await shown(page), 'set')
    await untilAsked(page, 3)
    await answer(page, 2, 'set, and read')
    assert.equal(await shown(page), 'set, and read')
    await page.close()
  })

  test('a reload drops what runs, and a failed refresh does not stop those that follow', async () => {
    const page = await open()
    await page.evaluate(() => query.reload())
    await untilAsked(page, 2)
    await answer(page, 1, 'newer')
    await answer(page, 0, 'older')
    assert.equal(await shown(page), 'newer')
    await refresh(page)
    await untilAsked(page, 3)
    await refresh(page)
    await page.evaluate(() => asked[2]?.reject(new Error('no answer')))
    await untilAsked(page, 4)
    await answer(page, 3, 'newest')
    assert.equal(await shown(page), 'newest')
    await page.close()
  })

  test('a list: a row that was set is not replaced by an answer from before the change', async () => {
    const page = await open(true)
    const rows = (text: string) => ({
      data: [
        { id: 'b', text },
        { id: 'a', text: '' },
      ],
    })
    await answer(page, 0, rows(''))
    assert.equal(await shown(page, 'pages'), 'b a')
    await page.evaluate(() => pages.refresh(({ id }) => id))
    await untilAsked(page, 2)
    await page.evaluate(() => pages.set((all) => all.map((row) => (row.id === 'b' ? { ...row, text: '!' } : row))))
    await answer(page, 1, rows(''))
    assert.equal(await shown(page, 'pages'), 'b! a')
    await untilAsked(page, 3)
    await answer(page, 2, { data: [{ id: 'c', text: '' }, ...rows('!').data] })
    assert.equal(await shown(page, 'pages'), 'c b! a')
    await page.close()
  })

  test('a list of two pages that is read again as a whole: rows of both are current, and those that have gone go', async () => {
    const page = await open(true)
    const part = (ids: string, text: string, nextCursor?: string) => ({ data: [...ids].map((id) => ({ id, text })), nextCursor })
    await answer(page, 0, part('ed', ' running', 'on'))
    assert.equal(await shown(page, 'pages'), 'e running d running')
    await page.evaluate(() => pages.more())
    await untilAsked(page, 2)
    await answer(page, 1, part('cba', ' running'))
    assert.equal(await shown(page, 'pages'), 'e running d running c running b running a running')
    await page.evaluate(() => pages.refreshAll())
    await untilAsked(page, 3)
    await answer(page, 2, part('ed', ' silent', 'on'))
    await untilAsked(page, 4)
    assert.equal(await shown(page, 'pages'), 'e running d running c running b running a running', 'until all is read')
    await answer(page, 3, part('ca', ' silent'))
    assert.equal(await shown(page, 'pages'), 'e silent d silent c silent a silent')
    await page.close()
  })

  test('a list: what has failed is tried again, be it the whole or the next page, and its error goes', async () => {
    const page = await open(true)
    const rows = { data: [{ id: 'b', text: '' }], nextCursor: 'on' }
    const fail = async (at: number) => {
      await untilAsked(page, at + 1)
      await page.evaluate((at) => asked[at]?.reject(new Error('no answer')), at)
      await page.waitForFunction(() => pages.error !== undefined)
    }
    const retried = async (at: number) => {
      await page.evaluate(() => pages.retry())
      await untilAsked(page, at + 1)
      return page.evaluate((at) => asked[at]?.cursor, at)
    }
    await answer(page, 0, rows)
    assert.equal(await shown(page, 'pages'), 'b')
    await page.evaluate(() => pages.reload())
    await fail(1)
    assert.equal(await retried(2), undefined, 'the list')
    await answer(page, 2, rows)
    await page.waitForFunction(() => pages.error === undefined)
    await page.evaluate(() => pages.more())
    await fail(3)
    assert.equal(await retried(4), 'on', 'the next page')
    await fail(4)
    await page.evaluate(() => pages.refreshAll())
    await untilAsked(page, 6)
    await answer(page, 5, rows)
    await page.waitForFunction(() => pages.error === undefined)
    await page.close()
  })
})
