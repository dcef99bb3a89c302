import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { readPageText } from '../page-text/page-text.ts'
import { HOSTILE_METADATA, HOSTILE_TEXTS } from '../testing/hostile-values.ts'
import {
  assertAccessible,
  openWatchedPage,
  skipWithoutChromium,
  startTestBrowser,
  startTestServer,
} from '../testing/start-test-browser.ts'
import { wallLayouts } from './layout.ts'
import { renderWall, type WallInput } from './render-wall.ts'
import type { OpenItem } from './wall-item.ts'

const sha256Base64 = (text: string) => createHash('sha256').update(text).digest('base64')
const pathOf = '/v1/collections/col_1/wall'
const idOf = (n: number) => `itm_${String(n).padStart(22, '0')}`
const at = (n: number) => new Date(Date.UTC(2026, 10, 20, 20, 0, n)).toISOString()
const itemOf = (n: number, content: unknown = `Message ${n}`, more: Partial<OpenItem> = {}): OpenItem => ({
  id: idOf(n),
  content,
  author: 'Ada',
  hero: false,
  created_at: at(n),
  ...more,
})

describe('the wall in Chromium', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let browser: Browser
  let server: Awaited<ReturnType<typeof startTestServer>>
  let changes: Partial<WallInput> = {}
  let language = 'en'
  let streams: { res: ServerResponse; lastEventId: string | undefined }[] = []
  let refusal = 0
  /** Whether the page is refused when it is requested again, and how often it was. */
  let pages = { isRefused: false, refused: 0 }
  let streamState: string | undefined
  let sent = 0
  /** Answers with pages as they were when they were requested. The test sends them. */
  let late: (() => void)[] | undefined

  before(async () => {
    browser = await startTestBrowser()
    server = await startTestServer((req, res) => {
      const url = req.url ?? ''
      if (url === '/favicon.ico') return void res.writeHead(404).end()
      if (url.startsWith(`${pathOf}/stream`)) {
        if (refusal > 0) return void res.writeHead(refusal, { 'content-type': 'application/json' }).end('{}')
        if (streamState) res.setHeader('collection-state', streamState)
        res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
        streams.push({ res, lastEventId: req.headers['last-event-id'] as string | undefined })
        return
      }
      if (!url.startsWith(pathOf)) return void res.writeHead(404).end()
      if (pages.isRefused) {
        pages.refused++
        return void res.writeHead(503, { 'content-type': 'application/json' }).end('{}')
      }
      const { html, csp } = render()
      res.setHeader('content-security-policy', csp).setHeader('content-type', 'text/html; charset=utf-8')
      if (late) late.push(() => res.end(html))
      else res.end(html)
    })
  })
  after(async () => {
    await browser?.close()
    server?.stop()
  })

  function render() {
    const input: WallInput = {
      id: 'col_1',
      metadata: { share_title: 'Lantern night', share_description: 'Write a few words.' },
      state: 'open',
      layout: 'cards',
      layoutAsked: false,
      items: [3, 2, 1].map((n) => itemOf(n)),
      pictures: new Map(),
      cursor: undefined,
      nextCursor: undefined,
      streamCursor: 'cursor-of-page',
      publicUrl: server.origin,
      pageUrl: server.origin + pathOf,
      oembedUrl: `${server.origin}/oembed`,
      ...changes,
    }
    return renderWall(input, sha256Base64, readPageText(language))
  }

  async function open(given: Partial<WallInput> = {}, options: BrowserContextOptions = {}, query = '', words = 'en') {
    changes = given
    language = words
    streams = []
    late = undefined
    refusal = 0
    pages = { isRefused: false, refused: 0 }
    streamState = given.state ?? 'open'
    const watch = { mayAsk: (url: URL) => url.origin === server.origin, expected: /status of (404|503)/ }
    const { page, problems } = await openWatchedPage(browser, watch, options)
    page.on('pageerror', (error) => problems.push(error.message))
    await page.goto(server.origin + pathOf + query)
    return { page, problems, close: () => page.context().close() }
  }
  const send = (event: string, data: object) => {
    for (const { res } of streams) res.write(`id: c${++sent}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }
  const untilLive = (page: Page) => page.locator('.live.on').waitFor()
  /** Viewers spread their requests over some seconds. This one is the first. */
  const soon = (page: Page) => page.evaluate('Math.random = () => 0')
  const texts = (page: Page) => page.locator('.items .text').allInnerTexts()
  const until = async (holds: () => Promise<boolean> | boolean, what: string) => {
    for (const deadline = Date.now() + 20_000; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 25)))
      assert.ok(Date.now() < deadline, what)
  }

  test('new items appear first, changed ones change, removed ones go', async () => {
    const { page, problems, close } = await open()
    await untilLive(page)
    assert.equal(streams[0]!.lastEventId, 'cursor-of-page')
    send('item', itemOf(4, 'Hello'))
    await page.getByText('Hello', { exact: true }).waitFor()
    assert.deepEqual(await texts(page), ['Hello', 'Message 3', 'Message 2', 'Message 1'])
    await page.locator('#said', { hasText: 'New: Ada: Hello' }).waitFor()
    send('item', itemOf(2, 'Changed'))
    await page.getByText('Changed', { exact: true }).waitFor()
    // Repeating what the page already shows changes nothing.
    send('item', itemOf(4, 'Hello'))
    send('removed', { id: idOf(3) })
    await until(async () => (await texts(page)).join() === 'Hello,Changed,Message 1', 'the removed item is gone')
    for (const n of [1, 2, 4]) send('removed', { id: idOf(n) })
    await page.getByText('Nothing here yet').waitFor()
    assert.deepEqual(problems, [])
    await close()
  })

  test('a wall says Live only while it shows what is written: not while it is paused, nor of a closed collection', async () => {
    const { page, close } = await open()
    await untilLive(page)
    const said = () => page.locator('.live').innerText()
    assert.equal(await said(), 'Live')
    await page.getByRole('button', { name: 'Pause' }).click()
    assert.equal(await said(), 'Paused')
    streams.splice(0)[0]!.res.end()
    await until(() => streams.length === 1, 'the second stream')
    assert.equal(await said(), 'Paused')
    await page.getByRole('button', { name: 'Resume' }).click()
    await untilLive(page)
    assert.equal(await said(), 'Live')
    await close()

    const closed = await open({ state: 'closed' })
    await until(() => streams.length === 1, 'what the owner changes still appears')
    send('item', itemOf(4, 'Approved later'))
    await closed.page.getByText('Approved later', { exact: true }).waitFor()
    assert.match(await closed.page.locator('.side').innerText(), /^Closed\s+Pause$/)
    assert.deepEqual(closed.problems, [])
    await closed.close()
  })

  test('a wall that is open shows a new state of its collection, and a ready one does not say Live', async () => {
    const { page, problems, close } = await open({ items: [] })
    await untilLive(page)
    const become = async (state: 'ready' | 'closed') => {
      changes = { state, items: [] }
      streamState = state
      streams.splice(0)[0]!.res.end()
      await until(() => streams.length === 1, 'the next stream')
    }
    const side = page.locator('.side')
    await become('ready')
    await until(async () => (await side.innerText()) === 'Pause', 'nobody can write any more')
    await page.getByText('Nothing here yet.', { exact: true }).waitFor()
    await become('closed')
    await until(async () => /^Closed\s+Pause$/.test(await side.innerText()), 'closed')
    await page.locator('#said', { hasText: 'Closed' }).waitFor()
    await page.getByText('This collection is closed.').waitFor()
    assert.deepEqual(problems, [])
    await close()
  })

  test('a connection that ends is opened again after the last message', async () => {
    const { page, close } = await open()
    await untilLive(page)
    send('item', itemOf(4, 'Before'))
    await page.getByText('Before', { exact: true }).waitFor()
    const last = `c${sent}`
    refusal = 503
    streams.splice(0)[0]!.res.end()
    await page.locator('.live:not(.on)').waitFor()
    refusal = 0
    await until(() => streams.length === 1, 'the second stream')
    assert.equal(streams[0]!.lastEventId, last)
    send('item', itemOf(5, 'After'))
    await page.getByText('After', { exact: true }).waitFor()
    await close()
  })

  test('a reader who has scrolled, or has paused, is not disturbed: new items wait behind a button', async () => {
    const many = Array.from({ length: 60 }, (_, n) => itemOf(60 - n))
    const { page, close } = await open({ items: many }, { viewport: { width: 390, height: 700 } })
    await untilLive(page)
    await page.mouse.wheel(0, 900)
    await until(async () => Number(await page.evaluate('scrollY')) > 500, 'scrolled')
    send('item', itemOf(61, 'Waiting'))
    await page.getByRole('button', { name: '1 new' }).click()
    await page.getByText('Waiting', { exact: true }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.id'), 'items')
    await until(async () => Number(await page.evaluate('scrollY')) < 100, 'at the top')
    await page.getByRole('button', { name: 'Pause' }).click()
    send('item', itemOf(62, 'Paused'))
    send('item', itemOf(63, 'Withdrawn'))
    await page.getByRole('button', { name: '2 new' }).waitFor()
    send('removed', { id: idOf(63) })
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Paused', { exact: true }).waitFor()
    assert.equal(await page.getByText('Withdrawn').count(), 0)
    await close()
  })

  test('the page does not grow without bound: past 120 items it takes the newest page', async () => {
    const many = Array.from({ length: 60 }, (_, n) => itemOf(60 - n))
    const { page, problems, close } = await open({ items: many, nextCursor: 'older' })
    await untilLive(page)
    changes = { items: Array.from({ length: 60 }, (_, n) => itemOf(125 - n)), nextCursor: 'next' }
    for (let n = 61; n <= 125; n++) send('item', itemOf(n))
    await page.getByText('Message 125', { exact: true }).waitFor()
    await until(async () => (await page.locator('.item').count()) === 60, 'the newest page')
    assert.equal(await page.locator('#pages a').getAttribute('href'), 'wall?cursor=next')
    assert.equal((await texts(page))[0], 'Message 125')
    assert.deepEqual(problems, [])
    await close()
  })

  test('a slow page that is requested again meanwhile does not bring back what is removed or changed, nor lose what is new', async () => {
    const { page, problems, close } = await open()
    await untilLive(page)
    await soon(page)
    changes = { items: [5, 3, 2, 1].map((n) => itemOf(n)) }
    const answers: (() => void)[] = (late = [])
    send('reset', {})
    await until(() => answers.length === 1, 'the request')
    send('reset', {})
    send('item', itemOf(4))
    await page.getByText('Message 4', { exact: true }).waitFor()
    send('item', itemOf(2, 'Another 2'))
    await page.getByText('Another 2', { exact: true }).waitFor()
    changes = { items: [6, 5, 4, 3, 2, 1].map((n) => itemOf(n)) }
    answers[0]?.()
    await page.getByText('Message 5', { exact: true }).waitFor()
    assert.deepEqual(await texts(page), ['Message 4', 'Message 5', 'Message 3', 'Another 2', 'Message 1'])
    await until(() => answers.length === 2, 'the page is requested again')
    send('removed', { id: idOf(3) })
    send('item', itemOf(7))
    await page.getByText('Message 7', { exact: true }).waitFor()
    answers[1]?.()
    await page.getByText('Message 6', { exact: true }).waitFor()
    assert.deepEqual(
      await texts(page),
      [7, 6, 5, 4, 2, 1].map((n) => `Message ${n}`),
    )
    assert.deepEqual(problems, [])
    await close()
  })

  test('after a reset, a page that is refused is requested again, and what was removed meanwhile does not wait any more', async () => {
    const { page, problems, close } = await open()
    await untilLive(page)
    await soon(page)
    await page.getByRole('button', { name: 'Pause' }).click()
    for (const n of [4, 5]) send('item', itemOf(n))
    await page.getByRole('button', { name: '2 new' }).waitFor()
    changes = { items: [6, 5, 3, 2].map((n) => itemOf(n)) }
    pages.isRefused = true
    send('reset', {})
    await until(() => pages.refused === 1, 'the page is requested')
    pages.isRefused = false
    await page.getByText('Message 6', { exact: true }).waitFor()
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Message 5', { exact: true }).waitFor()
    assert.deepEqual(
      await texts(page),
      [6, 5, 3, 2].map((n) => `Message ${n}`),
    )
    assert.deepEqual(problems, [])
    await close()
  })

  test('what waits for a reader is bounded: past 120 items the newest page is shown instead', async () => {
    const { page, close } = await open()
    await untilLive(page)
    await page.getByRole('button', { name: 'Pause' }).click()
    for (let n = 4; n <= 203; n++) send('item', itemOf(n))
    await page.getByRole('button', { name: '200 new' }).waitFor()
    changes = { items: Array.from({ length: 60 }, (_, n) => itemOf(203 - n)), nextCursor: 'next' }
    await page.getByRole('button', { name: 'Resume' }).click()
    await until(async () => (await texts(page))[0] === 'Message 203', 'the newest page')
    assert.equal(await page.locator('.item').count(), 60)
    assert.equal(await page.getByRole('button', { name: 'new' }).count(), 0)
    await close()
  })

  test('a reset, or a page that was asked for and refused, brings the newest page also if more than 120 items wait', async () => {
    const { page, problems, close } = await open()
    await untilLive(page)
    await soon(page)
    await page.getByRole('button', { name: 'Pause' }).click()
    const ways = [async () => send('reset', {}), () => page.getByRole('button', { name: '121 new' }).click()]
    for (const [n, ask] of ways.entries()) {
      const last = 3 + (n + 1) * 121
      for (let at = last - 120; at <= last; at++) send('item', itemOf(at))
      await page.getByRole('button', { name: '121 new' }).waitFor()
      changes = { items: [itemOf(last), itemOf(2)] }
      pages = { isRefused: true, refused: 0 }
      await ask()
      await until(() => pages.refused === 1, 'the page is requested')
      pages.isRefused = false
      await until(async () => (await texts(page)).join() === `Message ${last},Message 2`, 'the newest page')
      assert.equal(await page.getByRole('button', { name: 'new' }).count(), 0)
    }
    assert.deepEqual(problems, [])
    await close()
  })

  test('an older page stays what it is, but loses what is removed', async () => {
    const { page, close } = await open({ cursor: 'old' }, {}, '?cursor=old')
    await untilLive(page)
    send('item', itemOf(9, 'New'))
    send('removed', { id: idOf(3) })
    await until(async () => (await texts(page)).join() === 'Message 2,Message 1', 'only the removal')
    await close()
  })

  test('on a stage one item is large at a time, and a new one is next', async () => {
    const { page, close } = await open({ layout: 'stage' })
    await untilLive(page)
    assert.equal(await page.locator('.current .text').innerText(), 'Message 3')
    send('item', itemOf(4, 'Next'))
    await page.locator('.current', { hasText: 'Next' }).waitFor()
    assert.equal(await page.locator('.current').count(), 1)
    send('removed', { id: idOf(4) })
    await page.locator('.current', { hasText: 'Message 3' }).waitFor()
    await close()
  })

  test('hostile text in any field, on the page and in the stream, runs no script and sends no request', async () => {
    for (const layout of wallLayouts) {
      const bombs = HOSTILE_TEXTS.map((text) => text.slice(0, 100_000))
      const contents = bombs.flatMap((text) => [
        text,
        { title: text, text, emoji: text, alt: text, artifact_id: text },
        { [text]: text },
      ])
      const items = contents.map((content, n) => itemOf(n, content, { author: bombs[n % bombs.length]! })).reverse()
      const metadata = { share_title: bombs[layout.length], share_description: bombs[layout.length + 1], theme: bombs.at(-8) }
      const { page, problems, close } = await open({ layout, metadata, items: items.slice(0, 60) })
      await untilLive(page)
      for (const item of items.slice(60)) send('item', { ...item, id: `${item.id.slice(0, -1)}x`, created_at: at(900) })
      send('item', itemOf(999, 'The last one'))
      const shape = "[...new Set([...document.querySelectorAll('.items *')].map((e) => e.localName))].sort().join()"
      await page.getByText('The last one', { exact: true }).waitFor({ state: 'attached' })
      assert.match(String(await page.evaluate(shape)), /^(?:(?:br|dd|div|dl|dt|h2|li|p|span|time),?)+$/)
      assert.deepEqual(problems, [], layout)
      await close()
    }
  })

  test('metadata and content of any shape make a page', async () => {
    const items = HOSTILE_METADATA.map((content, n) => itemOf(n, content))
    for (const metadata of HOSTILE_METADATA) {
      changes = { metadata, items }
      assert.match(render().html, /<h1/)
    }
    const { problems, close } = await open({ items })
    assert.deepEqual(problems, [])
    await close()
  })

  const varied = [
    itemOf(9, 'مبروك! كانت أمسية رائعة', { author: 'نور' }),
    itemOf(8, 'Hero', { hero: true }),
    itemOf(7, { choice: 'Soup', seats: 4 }, { author: null }),
    itemOf(6, 'W'.repeat(10_000)),
    itemOf(5, { title: 'A toast', text: '👩‍👩‍👧‍👦 おめでとう' }),
    itemOf(4, { emoji: '🌊' }),
  ]

  test('axe finds nothing and nothing runs over the edge: each layout, theme, width, light and dark', async () => {
    const themes = [undefined, 'paper', 'neon', { background: '#777', text: '#888' }]
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [390, 1440]) {
        for (const layout of wallLayouts) {
          for (const theme of colorScheme === 'light' ? themes : [undefined]) {
            const metadata = { share_title: width === 390 ? 'المساء الأخير' : 'Lantern night', theme }
            const given = { layout, metadata, items: varied, nextCursor: 'next', cursor: 'this' }
            const { page, problems, close } = await open(given, {
              colorScheme,
              viewport: { width, height: 844 },
              reducedMotion: 'reduce',
            })
            await untilLive(page)
            const what = JSON.stringify([colorScheme, width, layout, theme])
            await assertAccessible(page, what)
            assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, what)
            assert.deepEqual(problems, [], what)
            await close()
          }
        }
      }
    }
  })

  test('text of twice the size fits a phone, also on a wall that is closed', async () => {
    for (const state of ['open', 'closed'] as const) {
      const { page, close } = await open({ state }, { viewport: { width: 390, height: 844 } })
      await page.getByRole('button', { name: 'Pause' }).waitFor()
      await page.evaluate("document.documentElement.style.fontSize = '200%'")
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, state)
      await close()
    }
  })

  test('a time keeps the order of its words where the page runs from right to left', async () => {
    const items = [itemOf(1, 'Hello', { created_at: new Date(Date.now() - 300_000).toISOString() })]
    const { page, close } = await open({ metadata: { share_title: 'ليلة الفوانيس' }, items }, { locale: 'en-GB' })
    await page.locator('.item time', { hasText: '5 minutes ago' }).waitFor()
    // The digit is at the left of the words.
    const digitIsLeft = await page.evaluate<boolean>(`(() => {
      const time = document.querySelector('.item time')
      const range = document.createRange()
      range.setStart(time.firstChild, 0)
      range.setEnd(time.firstChild, 1)
      return range.getBoundingClientRect().left - time.getBoundingClientRect().left < 2
    })()`)
    assert.ok(digitIsLeft)
    await close()
  })

  test('a printed wall has every text whole, on as many pages as without JavaScript', async () => {
    const items = Array.from({ length: 40 }, (_, n) => itemOf(n, `Message ${n}. ${'And a few words more. '.repeat(n % 20)}`))
    const countPages = async (page: Page, landscape: boolean) =>
      (await page.pdf({ format: 'A4', landscape })).toString('latin1').match(/\/Type \/Page\b/g)?.length
    for (const layout of wallLayouts) {
      const scripted = await open({ layout, items }, { viewport: { width: 1_900, height: 1_000 } })
      await untilLive(scripted.page)
      const plain = await open({ layout, items }, { javaScriptEnabled: false })
      for (const landscape of [false, true]) {
        const [pages, expected] = [await countPages(scripted.page, landscape), await countPages(plain.page, landscape)]
        assert.ok(expected !== undefined && expected > 1)
        assert.equal(pages, expected, `${layout}, ${landscape ? 'landscape' : 'portrait'}`)
      }
      await scripted.close()
      await plain.close()
    }
  })

  test('numbers have the digits of the visitor’s country, as times have', async () => {
    const items = [itemOf(1, 'Hello', { created_at: new Date(Date.now() - 300_000).toISOString() })]
    const { page, close } = await open({ items }, { locale: 'ar-EG' }, '', 'ar')
    await untilLive(page)
    await page.locator('.item time', { hasText: '٥' }).waitFor()
    await page.locator('#pause').click()
    for (let n = 4; n <= 8; n++) send('item', itemOf(n))
    await page.locator('#fresh', { hasText: '٥' }).waitFor()
    await close()
  })

  test('without JavaScript the page is a list with links to other pages', async () => {
    const given = { items: varied, nextCursor: 'next', layoutAsked: true }
    const { page, problems, close } = await open(given, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
    assert.equal(await page.getByRole('listitem').count(), varied.length)
    assert.equal(await page.getByRole('button').count(), 0)
    assert.equal(await page.getByRole('link', { name: 'Older' }).getAttribute('href'), 'wall?layout=cards&cursor=next')
    assert.deepEqual(problems, [])
    await close()
  })

  test('in a frame of another site the wall is live', async (t) => {
    changes = {}
    streams = []
    const html = `<iframe src="${server.origin}${pathOf}" sandbox="allow-scripts allow-same-origin"></iframe>`
    const blog = await startTestServer((_req, res) => void res.setHeader('content-type', 'text/html').end(html))
    // Also after a failure: an open server would keep the test's process from ending.
    t.after(() => blog.stop())
    const page = await browser.newPage()
    await page.goto(blog.origin.replace('127.0.0.1', 'localhost'))
    await page.frameLocator('iframe').locator('.live.on').waitFor()
    send('item', itemOf(4, 'Framed'))
    await page.frameLocator('iframe').getByText('Framed', { exact: true }).waitFor()
    await page.close()
  })
})
