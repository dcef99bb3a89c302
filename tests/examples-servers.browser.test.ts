import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, call, makeTenant, type TestTenant } from './support/call-api.ts'
import { copyExample, makeFolder, skipWithoutNpm, startExample, type RunningExample } from './support/example.ts'

const skip = skipWithoutChromium || skipWithoutNpm

describe('the examples with a server', { skip, timeout: 180_000, concurrency: false }, () => {
  let database: TestDatabase
  let atrium: AtriumProcess
  let browser: Browser
  let place: Awaited<ReturnType<typeof makeFolder>>
  let tenant: TestTenant
  const running: RunningExample[] = []

  before(async () => {
    database = await createTestDatabase()
    ;[atrium, browser, place] = await Promise.all([
      startAtrium({ databaseUrl: database.url, space: true, env: { ATRIUM_EGRESS: 'loopback' } }),
      startTestBrowser(),
      makeFolder(),
    ])
    tenant = await makeTenant(atrium.origin)
  })
  after(async () => {
    await Promise.all(running.map((example) => example.end()))
    await browser?.close()
    await atrium?.end('SIGKILL')
    await database?.drop()
    await place?.remove()
  })

  /** Installs and starts an example. Gives the address of its page, and starts it again with `start`. */
  async function play(name: string, isReady: RegExp, more: Record<string, string> = {}) {
    const folder = join(place.folder, name)
    const port = String(await freePort())
    await copyExample(name, folder, atrium.origin)
    const env = { ATRIUM_URL: atrium.origin, ATRIUM_SECRET_KEY: tenant.secret, PORT: port, ...more }
    const start = async () => {
      const example = await startExample(folder, isReady, { env })
      running.push(example)
      return example
    }
    return { url: `http://localhost:${port}/`, start, example: await start() }
  }

  async function open(url: string, colorScheme: 'light' | 'dark' = 'light'): Promise<{ page: Page; problems: string[] }> {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme })
    const problems: string[] = []
    const page = await context.newPage()
    page.setDefaultTimeout(10_000)
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url())
      if (protocol !== 'data:' && ![new URL(url).origin, atrium.origin].includes(origin)) problems.push(request.url())
    })
    await page.goto(url)
    return { page, problems }
  }

  async function assertSound({ page, problems }: { page: Page; problems: string[] }): Promise<void> {
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, 'nothing is wider than a phone')
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await assertAccessible(page, colorScheme)
    }
    await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
    assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(255, 255, 255)', 'printed by night')
    assert.deepEqual(problems, [])
    await page.context().close()
  }

  test('webhooks: what is verified is shown, a repeat is known also after a restart, a forgery is refused', async () => {
    const { url, start, example } = await play('webhook-receiver', /Watch them at/)
    const opened = await open(url)
    const { page } = opened
    await page.getByRole('button', { name: 'Make a collection' }).click()
    const entry = page.locator('li', { hasText: 'collection.created' })
    await entry.getByText('Delivered once.').waitFor()
    await entry.getByRole('button', { name: 'Send it again: collection.created' }).click()
    await entry.getByText('Delivered 2 times, handled once.').waitFor()
    await assertSound(opened)

    const forged = await fetch(`${url.replace('localhost', '127.0.0.1')}webhook`, {
      method: 'POST',
      body: JSON.stringify({ id: 'evt_forged', type: 'checkout.paid', data: {} }),
      headers: { 'webhook-id': 'evt_forged', 'webhook-timestamp': String(Date.now() / 1_000), 'webhook-signature': 'v1,AAAA' },
    })
    assert.equal(forged.status, 401)
    // Without Content-Length, as some proxies send it.
    const send = (text: string) =>
      fetch(`${url.replace('localhost', '127.0.0.1')}webhook`, {
        method: 'POST',
        body: new Blob([text]).stream(),
        headers: { 'webhook-id': 'evt_forged', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' },
        duplex: 'half',
      })
    assert.equal((await send('{}')).status, 401, 'read, and refused for its signature')
    for (let i = 0; i < 10; i++) assert.equal((await send('x'.repeat(500_000))).status, 413)
    const foreign = await fetch(`${url.replace('localhost', '127.0.0.1')}make`, { method: 'POST' })
    assert.equal(foreign.status, 404, 'another site cannot press the buttons')
    await assertOwnName(url, ['/', '/events'])

    await example.end()
    await start()
    const again = await open(url)
    const kept = again.page.locator('li', { hasText: 'collection.created' })
    await kept.getByText('Delivered 2 times, handled once.').waitFor()
    await kept.getByRole('button', { name: /again/ }).click()
    await kept.getByText('Delivered 3 times, handled once.').waitFor()
    assert.equal(await again.page.locator('li').count(), 1)
    await assertSound(again)

    const other = { url: 'http://127.0.0.1:8799/elsewhere' }
    await askGood(atrium.origin, 'PUT /v1/tenant/webhooks', { key: tenant.secret, body: other })
    await running.at(-1)?.end()
    await assert.rejects(start(), /the webhook of this tenant is http:\/\/127\.0\.0\.1:8799\/elsewhere/)
    await askGood(atrium.origin, 'PUT /v1/tenant/webhooks', { key: tenant.secret, body: { ...other, enabled: false } })
  })

  test('a paid agent: its price is held at the launch, and captured when it leaves', async () => {
    const agentPort = String(await freePort())
    const { url } = await play('paid-agent', /The visit is at/, { AGENT_PORT: agentPort })
    await assertOwnName(url, ['/', '/state'])
    const send = (text: string) =>
      fetch(`http://localhost:${agentPort}/`, { method: 'POST', body: new Blob([text]).stream(), duplex: 'half' })
    assert.equal((await send('{}')).status, 401, 'without Content-Length: read, and refused for its signature')
    for (let i = 0; i < 10; i++) assert.equal((await send('x'.repeat(900_000))).status, 413)
    const opened = await open(url)
    const { page } = opened
    const shows = (id: string, number: number) => page.locator(`#${id}`, { hasText: new RegExp(`^${number}$`) }).waitFor()
    await shows('free', 5)
    await page.getByRole('button', { name: 'Launch it for 3 credits' }).click()
    await shows('held', 3)
    await shows('free', 2)
    await page.getByText('Dice at your service').waitFor()
    await page.getByRole('textbox', { name: 'Say something' }).fill('2d6, please')
    await page.keyboard.press('Enter')
    await page.locator('#said li', { hasText: /\d \+ \d = \d/ }).waitFor()
    await page.getByRole('button', { name: 'Let it leave' }).click()
    await shows('charged', 3)
    await shows('held', 0)
    for (const kind of ['prefund', 'grant', 'hold', 'capture'])
      await page.locator('#movements strong', { hasText: new RegExp(`^${kind}$`) }).waitFor()
    await assertSound(opened)
  })

  test('blind tokens: two buyers redeem, and the log of the issuer fits every token equally', async () => {
    const { url } = await play('blind-token-issuer', /Tokens are given at/)
    await assertOwnName(url, ['/', '/log', '/settings'])
    const opened = await open(url)
    const { page } = opened
    for (const [index, buyer] of ['Ada', 'Grace'].entries()) {
      await page.getByRole('textbox', { name: 'Who buys' }).fill(buyer)
      await page.keyboard.press('Enter')
      await page.locator('#tokens li').nth(index).waitFor()
    }
    // Grace's first: the order tells nothing either.
    await page.getByRole('button', { name: 'Redeem' }).nth(1).click()
    await page.locator('#redeemed li').waitFor()
    await page.getByRole('button', { name: 'Redeem' }).click()
    await page.locator('#redeemed li').nth(1).waitFor()
    assert.equal(await page.locator('#tokens li', { hasText: /wlt_.*credits: 10/ }).count(), 2)
    await assertUnlinkable(page, url)
    const foreign = await fetch(`${url}buy`, { method: 'POST', body: '{}' })
    assert.equal(foreign.status, 400)
    await assertSound(opened)
  })
})

/** A foreign page whose name leads to this machine is another origin, and reads nothing. */
async function assertOwnName(url: string, paths: string[]): Promise<void> {
  const { port } = new URL(url)
  for (const path of paths) {
    const { status } = await call(`http://127.0.0.1:${port}`, `GET ${path}`, { headers: { host: `rebound.example:${port}` } })
    assert.equal(status, 404, path)
  }
}

/** For each line of the log and each signature there is a blinding factor, so that nobody can tell which pairs belong together. */
async function assertUnlinkable(page: Page, url: string): Promise<void> {
  const log = (await (await fetch(`${url}log`)).json()) as { buyer: string; blinded: string; blindSignature: string }[]
  const { url: api, epoch } = (await (await fetch(`${url}settings`)).json()) as { url: string; epoch: string }
  const { data } = (await (await fetch(`${api}/v1/epochs/${epoch}`)).json()) as { data: { public_key: { n: string; e: string } } }
  const [n, e] = [toNumber(data.public_key.n), toNumber(data.public_key.e)]
  const titles = "[...document.querySelectorAll('#redeemed li p:last-child code')].map(({ title }) => title)"
  const signatures = await page.evaluate<string[]>(titles)
  assert.deepEqual([log.length, signatures.length], [2, 2])
  const everything = JSON.stringify(log)
  for (const signature of signatures) {
    assert.ok(!everything.includes(signature), 'the log has no part of a token')
    const message = power(toNumber(signature), e, n)
    for (const { blinded, blindSignature } of log) {
      const factor = (toNumber(blindSignature) * power(toNumber(signature), -1n, n)) % n
      assert.equal((message * power(factor, e, n)) % n, toNumber(blinded))
    }
  }
}

function toNumber(base64url: string): bigint {
  return BigInt(`0x${Buffer.from(base64url, 'base64url').toString('hex')}`)
}

/** Modulo n; the exponent -1 gives the inverse. */
function power(base: bigint, exponent: bigint, n: bigint): bigint {
  if (exponent === -1n) {
    let [a, b, x, y] = [base % n, n, 1n, 0n]
    while (b !== 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y]
    return ((x % n) + n) % n
  }
  let result = 1n
  for (let [rest, square] = [exponent, base % n]; rest > 0n; rest >>= 1n, square = (square * square) % n)
    if (rest & 1n) result = (result * square) % n
  return result
}
