import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openWatchedPage, skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { HOSTILE_TEXTS } from '../packages/web/src/testing/hostile-values.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import {
  askGood,
  call,
  callUntilServed,
  makeCollection,
  makeTenant,
  type CallOptions,
  type TestTenant,
} from './support/call-api.ts'
import { pathsOfConsole } from './support/console-paths.ts'
import { fundIssuer } from './support/fund-issuer.ts'
import { mapConcurrently } from './support/map-concurrently.ts'
import { openConsole } from './support/role-cells.ts'
import { settleConsole } from './support/settle-console.ts'

const least = 40
// The API refuses NUL and lone surrogates.
const texts = HOSTILE_TEXTS.map((text) => text.replaceAll('\0', '').toWellFormed()).filter((text) => text.trim() !== '')
const within = (limit: number) => texts.map((text) => [...text.trim()].slice(0, limit).join('').toWellFormed())

describe(
  'whatever strangers write into any field, no page of the console runs it',
  {
    skip: skipWithoutChromium,
    timeout: 290_000,
  },
  () => {
    let database: TestDatabase
    let atrium: AtriumProcess
    let browser: Browser
    let tenant: TestTenant
    let collection: { id: string; token: string }
    let agents: string[]
    let answers = 0
    // Each delivery is answered with another text.
    const receiver: Server = createServer((req, res) => {
      req.resume()
      res.end(within(1_000)[answers++ % texts.length])
    })

    before(async () => {
      receiver.listen(0, '127.0.0.1')
      await once(receiver, 'listening')
      database = await createTestDatabase()
      browser = await startTestBrowser()
      atrium = await startAtrium({ databaseUrl: database.url, env: { ATRIUM_EGRESS: 'loopback' } })
      tenant = await makeTenant(atrium.origin)
      collection = await makeCollection(atrium.origin, tenant.secret, { wall: true, item_access: 'open' })
      await fundIssuer(atrium.origin, tenant.secret, 1_000)
    })
    after(async () => {
      await browser?.close()
      await atrium?.end()
      await database?.drop()
      receiver.close()
      receiver.closeAllConnections()
    })

    /** Sends one request for each text. Returns the ids of what was made, of which there are at least 40. */
    const plant = async (limit: number, ask: (text: string) => [route: string, options: CallOptions]): Promise<string[]> => {
      const made = await mapConcurrently(within(limit), 8, async (text) => {
        const [route, options] = ask(text)
        return call(atrium.origin, route, options)
      })
      const good = made.filter(({ status }) => status < 300)
      assert.ok(good.length >= least, `${good.length} of ${made.length}: ${made.find(({ status }) => status >= 300)?.text}`)
      return good.map(({ data }) => data.id)
    }
    const open = async (kind: 'tenant' | 'operator', start = 'Overview') => {
      const { origin } = atrium
      const body = kind === 'operator' ? { kind } : { kind, tenant_id: tenant.id }
      const { data } = await askGood(origin, 'POST /v1/operator/console-links', { operator: true, body })
      const watched = await openWatchedPage(
        browser,
        // 401: before the sign-in.
        { mayAsk: (url) => url.origin === origin || url.protocol === 'blob:', expected: /status of 401/ },
        { reducedMotion: 'reduce', viewport: { width: 390, height: 844 } },
      )
      const { page, problems } = watched
      page.on('framenavigated', (frame) => {
        if (!/^(?:about:|http:\/\/localhost:)/.test(frame.url())) problems.push(`went to ${frame.url()}`)
      })
      page.on('popup', () => void problems.push('a window opened'))
      await page.goto(data.url)
      await page.getByRole('button', { name: 'Open the console' }).click()
      await page.getByRole('heading', { name: start }).waitFor()
      return watched
    }
    /** Goes there without loading the console again. */
    const go = async (page: Page, path: string) => {
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(`/console${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
      )
      await settleConsole(page)
    }
    const openEach = async (page: Page, name: RegExp | string, most: number) => {
      const buttons = page.getByRole('button', { name })
      const count = Math.min(most, await buttons.count())
      for (let at = 0; at < count; at++) {
        await buttons.nth(at).click()
        await page.locator('dialog[open] .json, dialog[open] .facts').first().waitFor()
        await page.keyboard.press('Escape')
        await page.locator('dialog[open]').waitFor({ state: 'detached' })
      }
      return count
    }

    test('every field that people or servers fill in is filled', async () => {
      const { origin } = atrium
      const { secret: key } = tenant
      const { token } = collection
      const path = `/v1/collections/${collection.id}`
      const hooks = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
      await askGood(origin, 'PUT /v1/tenant/webhooks', {
        key,
        body: { url: `${hooks}/%22%3E%3Cimg%20src=x%20onerror=canary()%3E?{{canary()}}` },
      })
      const owner = await openConsole(origin, tenant.id)
      await plant(2_000, (text) => [
        'POST /v1/collections',
        { key, body: { metadata: { share_title: text, share_description: text, theme: text } } },
      ])
      await plant(4_000, (text) => {
        const body = { type: 'message', content: { text, title: text, [text.slice(0, 60)]: text }, author: text.slice(0, 100) }
        return [`POST ${path}/items`, { key, token, body }]
      })
      await plant(200, (text) => {
        const url = `https://evil.example/${encodeURIComponent(text)}`
        return [`POST ${path}/artifacts`, { key, token, body: { kind: 'image', url, title: text, alt: text } }]
      })
      agents = await plant(120, (text) => {
        const body = { name: text, description: text, instructions: text, greeting: text, price_credits: 0, max_minutes: 5 }
        return ['POST /agents', { key, body: { ...body, model: { provider: 'echo', id: text.slice(0, 100) } } }]
      })
      await plant(120, (name) => ['POST /v1/tenant/keys', { key, body: { kind: 'publishable', name } }])
      await plant(120, (name) => {
        const body = { role: 'analyst', email: `${randomUUID()}@harbour.example`, name }
        return ['POST /v1/tenant/members', { headers: owner, body }]
      })
      await plant(150, (memo) => ['POST /v1/wallets/grant', { key, idempotencyKey: randomUUID(), body: { amount: 1, memo } }])
      await plant(120, (name) => ['POST /v1/tenants', { operator: true, body: { name } }])
      // Headers are ASCII. An Origin that no browser sends is not kept.
      for (const text of within(200).filter((one) => /^[\x20-\x7e]+$/.test(one))) {
        await call(origin, 'GET /v1/tenant', { key, headers: { origin: text, 'user-agent': text, 'x-request-id': text } })
        const link = { kind: 'tenant', tenant_id: tenant.id }
        const { data } = await askGood(origin, 'POST /v1/operator/console-links', { operator: true, body: link })
        const body = { link_secret: data.url.split('#link=')[1] }
        await askGood(origin, 'POST /console/sign-in', { headers: { 'user-agent': text }, body })
      }
      for (const deadline = Date.now() + 30_000; answers < least; await new Promise((done) => setTimeout(done, 100)))
        assert.ok(Date.now() < deadline, `${answers} deliveries`)
    })

    test('the pages of a tenant', async () => {
      const { page, problems } = await open('tenant')
      for (const path of pathsOfConsole('tenant').filter((one) => !one.includes(':'))) await go(page, path)
      for (const part of ['', '/artifacts', '/preview', '/settings']) await go(page, `/collections/${collection.id}${part}`)
      for (const id of agents.slice(0, least)) await go(page, `/agents/${id}`)
      await go(page, `/collections/${collection.id}`)
      assert.ok((await openEach(page, 'Open', least)) >= least)
      await go(page, '/webhooks/default')
      assert.ok((await openEach(page, /attempts: show them/, least)) >= least)
      await go(page, '/events')
      const entries = page.locator('.log summary')
      await entries.first().waitFor()
      for (const entry of await entries.all()) await entry.click()
      assert.deepEqual(problems, [])
      await page.context().close()
    })

    test('names that stand on every page, one after the other', async () => {
      const { origin } = atrium
      const { secret: key } = tenant
      const { page, problems } = await open('tenant')
      // How many texts each of them has taken.
      const set = [0, 0, 0]
      for (const text of within(120)) {
        const { token } = collection
        const answers = [
          await callUntilServed(origin, `PATCH /v1/tenants/${tenant.id}`, { operator: true, body: { name: text } }),
          await callUntilServed(origin, 'PATCH /v1/tenant/webhooks/endpoints/default', { key, body: { description: text } }),
          await callUntilServed(origin, `PATCH /v1/collections/${collection.id}`, {
            key,
            token,
            body: { metadata: { share_title: text } },
          }),
        ]
        answers.forEach(({ status }, at) => (set[at]! += status === 200 ? 1 : 0))
        await page.goto(`${origin}/console/collections/${collection.id}/settings`)
        await settleConsole(page)
        await go(page, '/webhooks/default')
        await go(page, '/settings')
      }
      assert.ok(Math.min(...set) >= least, set.join())
      assert.deepEqual(problems, [])
      await page.context().close()
    })

    test('the pages of an operator', async () => {
      const { page, problems } = await open('operator')
      for (const path of pathsOfConsole('operator').filter((one) => !one.includes(':'))) await go(page, path)
      await go(page, '/tenants')
      const more = page.getByRole('button', { name: 'Load more' })
      while ((await more.count()) > 0) {
        const rows = await page.locator('tbody tr').count()
        await more.click()
        await page.locator('tbody tr').nth(rows).waitFor()
      }
      const links = await page.evaluate<string[]>(
        `[...document.querySelectorAll('tbody .row-link')].map((link) => link.getAttribute('href'))`,
      )
      assert.ok(links.length >= least)
      for (const link of links.slice(0, least)) await go(page, link.replace('/console', ''))
      assert.deepEqual(problems, [])
      await page.context().close()
    })
  },
)
