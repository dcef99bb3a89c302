import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, makeCollection, makeTenant } from './support/call-api.ts'

const limitMs = 1_000
const slowdown = 4
/** The quickest of at most so many visits counts, because other tests use the machine too. */
const maxVisits = 20

describe('the console on a slow device', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let database: TestDatabase
  let atrium: AtriumProcess
  let browser: Browser
  before(async () => {
    database = await createTestDatabase()
    browser = await startTestBrowser()
    atrium = await startAtrium({ databaseUrl: database.url })
  })
  after(async () => {
    await browser?.close()
    await atrium?.end()
    await database?.drop()
  })

  test(`with a processor that is ${slowdown} times slower, it answers to a key within ${limitMs} ms`, async (t) => {
    const { origin } = atrium
    const tenant = await makeTenant(origin)
    await makeCollection(origin, tenant.secret, { metadata: { share_title: 'Lantern night' } })
    const body = { kind: 'tenant', tenant_id: tenant.id }
    const { data } = await askGood(origin, 'POST /v1/operator/console-links', { operator: true, body })
    const first = await browser.newPage()
    await first.goto(data.url)
    await first.getByRole('button', { name: 'Open the console' }).click()
    await first.getByRole('heading', { name: 'Overview' }).waitFor()
    const storageState = await first.context().storageState()
    await first.context().close()
    const times: number[] = []
    while (times.length < maxVisits && !times.some((time) => time <= limitMs)) {
      // A new context has no cache: everything is loaded and compiled again.
      const context = await browser.newContext({ storageState, viewport: { width: 390, height: 844 } })
      const page = await context.newPage()
      const devtools = await context.newCDPSession(page)
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
      await page.goto(`${origin}/console`, { waitUntil: 'commit' })
      // The key is pressed from within, as soon as there is a page, until something happens.
      times.push(
        await page.evaluate<number>(`new Promise((done) => {
          const press = () => {
            if (document.querySelector('dialog[open]')) return done(performance.now())
            if (document.querySelector('main h1')) dispatchEvent(new KeyboardEvent('keydown', { key: '/', cancelable: true }))
            requestAnimationFrame(press)
          }
          press()
        })`),
      )
      await context.close()
    }
    t.diagnostic(`${times.map((time) => Math.round(time)).join(', ')} ms`)
    assert.ok(
      times.some((time) => time <= limitMs),
      `${times.join(', ')} ms`,
    )
  })
})
