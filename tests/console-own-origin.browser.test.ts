import assert from 'node:assert/strict'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { openWatchedPage, skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { certificateKey, validCertificate } from '../packages/server/testing/loopback-certificates.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, call, makeCollection, makeTenant, type TestTenant } from './support/call-api.ts'
import { eventually } from './support/remote-agents.ts'
import { settleConsole } from './support/settle-console.ts'
import { dot, uploadFile } from './support/upload-file.ts'

describe('the console on an origin of its own, over https', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let database: TestDatabase
  let atrium: AtriumProcess
  let browser: Browser
  let proxy: Server
  let consoleOrigin: string
  let tenant: TestTenant
  let collection: { id: string; token: string }
  before(async () => {
    const [port, proxyPort] = [await freePort(), await freePort()]
    consoleOrigin = `https://localhost:${proxyPort}`
    // As a reverse proxy does that ends TLS.
    proxy = createServer({ key: certificateKey, cert: validCertificate }, (req, res) => {
      const options = { port, method: req.method, path: req.url, headers: req.headers }
      const forwarded = request(options, (answer) => answer.pipe(res.writeHead(answer.statusCode ?? 502, answer.headers)))
      forwarded.once('error', () => res.destroy())
      res.once('close', () => forwarded.destroy())
      req.pipe(forwarded)
    })
    proxy.listen(proxyPort, '127.0.0.1')
    database = await createTestDatabase()
    browser = await startTestBrowser()
    // Another host name than that of the console, as in an installation: cookies do not regard ports.
    const env = { ATRIUM_CONSOLE_URL: consoleOrigin, ATRIUM_PUBLIC_URL: `http://127.0.0.1:${port}` }
    atrium = await startAtrium({ databaseUrl: database.url, port, env })
    tenant = await makeTenant(atrium.origin)
    collection = await makeCollection(atrium.origin, tenant.secret, { metadata: { share_title: 'Lantern night' }, wall: true })
    const place = { origin: atrium.origin, key: tenant.secret, collection: collection.id, token: collection.token }
    const { id } = await uploadFile(place, 'image/png', dot, 'image')
    const options = { key: tenant.secret, token: collection.token, body: { published: true, hero: true } }
    await askGood(atrium.origin, `PATCH /v1/collections/${collection.id}/artifacts/${id}`, options)
  })
  after(async () => {
    await browser?.close()
    await atrium?.end()
    await database?.drop()
    proxy?.close()
    proxy?.closeAllConnections()
  })

  const newLink = async () => {
    const body = { kind: 'tenant', tenant_id: tenant.id }
    return (await askGood(atrium.origin, 'POST /v1/operator/console-links', { operator: true, body })).data.url
  }

  test('links lead there, its cookies are secure and stay there, and its pages show pictures and previews', async () => {
    const link = await newLink()
    assert.equal(new URL(link).origin, consoleOrigin)
    const mayAsk = (url: URL) => url.origin === consoleOrigin || url.protocol === 'blob:' || url.pathname.startsWith('/v1/media/')
    const { page, problems } = await openWatchedPage(browser, { mayAsk, expected: /status of 401/ }, { ignoreHTTPSErrors: true })
    await page.goto(link)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const cookies = await page.context().cookies(consoleOrigin)
    assert.equal(cookies.length, 2)
    for (const { name, secure, httpOnly, sameSite, path } of cookies) {
      assert.match(name, /^__Host-atrium-console/)
      assert.deepEqual([secure, httpOnly, sameSite, path], [true, true, 'Strict', '/'], name)
    }
    await page.goto(`${consoleOrigin}/console/collections/${collection.id}/artifacts`)
    await page.locator('img.artifact-picture').waitFor()
    await page.goto(`${consoleOrigin}/console/collections/${collection.id}/preview`)
    await settleConsole(page)
    const shared = page.frameLocator('iframe[title="Share page"]')
    await shared.getByRole('heading', { name: 'Lantern night' }).waitFor()
    await shared.locator('img').first().waitFor()
    const frame = page.frames().find((one) => one.url().endsWith('/render'))
    const isLoaded = () => frame!.evaluate<boolean>('document.images[0].complete && document.images[0].naturalWidth > 0')
    await eventually(isLoaded, 'the picture is loaded')
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a page on the origin of the API cannot sign in, and media are served in a sandbox', async () => {
    const body = { link_secret: (await newLink()).split('#link=')[1] }
    const refused = await call(atrium.origin, 'POST /console/sign-in', { headers: { origin: atrium.origin }, body })
    assert.equal(refused.code, 'csrf_required')
    assert.equal((await call(atrium.origin, 'POST /console/sign-in', { headers: { origin: consoleOrigin }, body })).status, 200)
    const { data } = await askGood(atrium.origin, `GET /v1/collections/${collection.id}/artifacts`, { key: tenant.publishable })
    const [artifact] = data as unknown as { id: string }[]
    const media = await call(atrium.origin, `GET /v1/media/${artifact?.id}`, {})
    assert.match(String(media.headers['content-security-policy']), /default-src 'none';.*sandbox/)
  })
})
