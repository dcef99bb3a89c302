import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../../packages/web/src/testing/start-test-browser.ts'
import { openStream } from '../../packages/server/testing/read-stream.ts'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium } from '../support/atrium-process.ts'
import { askGood, makeTenant } from '../support/call-api.ts'
import { mapConcurrently } from '../support/map-concurrently.ts'

const itemsBefore = 5_000
const pageCount = 20
/**
 * The others ask for reduced motion: without a graphics card each animated page uses 130 ms of processor time for a new
 * item, which is 2.6 s for 20 of them.
 */
const animatedPages = 4
const streamCount = 480
/** More than the live list keeps, so that the pages are loaded again in the middle of it. */
const added = 70
const intervalMs = 700

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Runs in the page before its own script: notes when each item was in the document for the first time, by its id. */
const watchItems = `
  window.seenAt = {}
  const note = () => {
    for (const { id } of document.querySelectorAll('#items > [id]')) window.seenAt[id] ??= Date.now()
  }
  document.addEventListener('DOMContentLoaded', () => {
    note()
    new MutationObserver(note).observe(document.getElementById('items'), { childList: true })
  })`

test(
  'a new item appears on a wall of 5,000 items with 500 viewers within a second',
  { skip: skipWithoutChromium, timeout: 300_000 },
  async (t) => {
    const database = await createTestDatabase()
    const env = { ATRIUM_STREAMS_PER_ADDRESS: '1000' }
    const atrium = await startAtrium({ databaseUrl: database.url, env })
    const browser = await startTestBrowser()
    const closing: (() => unknown)[] = [() => browser.close(), () => atrium.end('SIGKILL'), () => database.drop()]
    t.after(async () => {
      for (const close of closing) await close()
    })
    const { publishable: key } = await makeTenant(atrium.origin)
    const body = { item_access: 'open', wall: true }
    const { id } = (await askGood(atrium.origin, 'POST /v1/collections', { key, body })).data
    const add = async (n: number) => {
      const item = {
        type: 'message',
        author: 'Ada',
        content: { text: `Greeting ${n}: ${'happy birthday, old lighthouse! '.repeat(3)}` },
      }
      return (await askGood(atrium.origin, `POST /v1/collections/${id}/items`, { key, body: item })).data.id
    }
    await mapConcurrently(upTo(itemsBefore), 32, add)
    const path = `/v1/collections/${id}/wall`
    const streams = await mapConcurrently(upTo(streamCount), 16, () =>
      openStream(`${atrium.origin}/v1`, `/collections/${id}/wall/stream`),
    )
    closing.unshift(() => streams.forEach((one) => one.close()))
    assert.ok(streams.every(({ status }) => status === 200))
    // A context each: a browser opens only six connections to one host in one of them.
    const pages = await mapConcurrently(upTo(pageCount), 2, async (n): Promise<Page> => {
      const reducedMotion = n < animatedPages ? 'no-preference' : 'reduce'
      const page = await (await browser.newContext({ reducedMotion })).newPage()
      await page.addInitScript({ content: watchItems })
      await page.goto(atrium.origin + path)
      await page.locator('#connection').filter({ hasText: /live/i }).waitFor({ state: 'attached', timeout: 60_000 })
      return page
    })
    // Until the pages are at rest.
    await delay(3_000)

    const askedAt = new Map<string, number>()
    const answeredMs: number[] = []
    for (const n of upTo(added)) {
      const start = Date.now()
      askedAt.set(await add(itemsBefore + n), start)
      answeredMs.push(Date.now() - start)
      await delay(Math.max(0, intervalMs - (Date.now() - start)))
    }
    await delay(6_000)
    const seen = await Promise.all(pages.map((page) => page.evaluate<Record<string, number>>('window.seenAt')))
    const ms = seen.flatMap((times) => [...askedAt].map(([item, start]) => (times[item] ?? Infinity) - start))
    const at = (all: number[], share: number) => all.toSorted((a, b) => a - b)[Math.ceil(all.length * share) - 1]!
    const line = (all: number[]) => `${at(all, 0.5)} ms, p99 ${at(all, 0.99)} ms, longest ${at(all, 1)} ms`
    t.diagnostic(`POST: ${line(answeredMs)}; from POST to the page: ${line(ms)}, ${ms.length} in all`)
    for (const one of streams)
      assert.equal(new Set(one.messages.filter(({ event }) => event === 'item').map(({ data }) => data.id)).size, added)
    assert.ok(at(ms, 0.99) < 1_000, line(ms))
  },
)
