import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, makeTenant, type TestTenant } from './support/call-api.ts'

describe('the key to which rooms are sealed for a remote agent', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let database: TestDatabase
  let atrium: AtriumProcess
  let browser: Browser
  let tenant: TestTenant
  let page: Page
  const sent: string[] = []

  before(async () => {
    database = await createTestDatabase()
    ;[atrium, browser] = await Promise.all([startAtrium({ databaseUrl: database.url }), startTestBrowser()])
    tenant = await makeTenant(atrium.origin)
    const body = { kind: 'tenant', tenant_id: tenant.id }
    const link = (await askGood(atrium.origin, 'POST /v1/operator/console-links', { operator: true, body })).data.url
    page = await (await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' })).newPage()
    page.on('request', (request) => sent.push(request.postData() ?? ''))
    await page.goto(link)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })
  after(async () => {
    await browser?.close()
    await atrium?.end()
    await database?.drop()
  })

  const pairOf = (namedCurve: string) => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve })
    return { jwk: publicKey.export({ format: 'jwk' }), secret: privateKey.export({ format: 'jwk' }) }
  }
  const keyOf = async (id: string) => {
    const { data } = await askGood(atrium.origin, `GET /agents/${id}`, { key: tenant.secret })
    return (data as unknown as { encryption_key?: object }).encryption_key
  }
  const dialog = () => page.getByRole('dialog')
  const field = () => dialog().getByLabel('Encryption key (JWK)')
  /** The form was not sent, or not accepted: the field says why, and has the focus. */
  const refused = async (why: RegExp) => {
    await dialog().locator('.field-error').filter({ hasText: why }).waitFor()
    await dialog().locator('textarea:focus[aria-invalid=true]').waitFor()
  }

  test('an agent is registered with it, a private key never leaves the page, and it is replaced and removed', async () => {
    const [first, second, wrong] = [pairOf('P-256'), pairOf('P-256'), pairOf('P-384')]
    await page.goto(`${atrium.origin}/console/agents`)
    await page.getByRole('button', { name: 'New agent' }).first().click()
    await dialog().getByLabel('Name').fill('Keeper')
    await dialog().getByLabel('Description').fill('Keeps the minutes.')
    await dialog().getByLabel('Where it runs').selectOption('remote')
    await dialog().getByLabel('Endpoint').fill('https://agents.example/keeper')
    await dialog().getByLabel('Instructions').fill('Keep the minutes.')
    await field().fill(JSON.stringify(first.secret))
    await dialog().getByText('This has a private key. Paste the public one: kty, crv, x and y alone.').waitFor()
    await dialog().getByRole('button', { name: 'Register the agent', exact: true }).click()
    await refused(/has a private key/)
    await field().fill(JSON.stringify(wrong.jwk))
    await dialog().getByText('This key is of another curve: crv is "P-384". It must be P-256.').waitFor()
    await assertAccessible(page, 'a key of another curve')
    if (process.env['CONSOLE_SCREENSHOTS']) await page.screenshot({ path: `${process.env['CONSOLE_SCREENSHOTS']}/agent-key.png` })
    await dialog().getByRole('button', { name: 'Register the agent', exact: true }).click()
    await refused(/another curve/)
    assert.ok(!sent.some((body) => body.includes(first.secret.d!)), 'a private key stays in the page')
    assert.ok(!sent.some((body) => body.includes(wrong.jwk.x!)), 'a key of another curve is not sent')

    // A point that is not on the curve is refused by the server, with the name of the field.
    await field().fill(JSON.stringify({ ...first.jwk, y: `${'A'.repeat(42)}E` }))
    await dialog().getByRole('button', { name: 'Register the agent', exact: true }).click()
    await refused(/^This is not the public part of an EC P-256 key\.$/)

    await field().fill(JSON.stringify(first.jwk, null, 2))
    await dialog().getByText('This is a public P-256 key.').waitFor()
    await dialog().getByRole('button', { name: 'Register the agent', exact: true }).click()
    await page.getByRole('heading', { name: 'The signing secret' }).waitFor()
    const { data: agents } = await askGood(atrium.origin, 'GET /agents', { key: tenant.secret })
    const [{ id }] = agents as unknown as [{ id: string }]
    assert.deepEqual(await keyOf(id), { kty: 'EC', crv: 'P-256', x: first.jwk.x, y: first.jwk.y })

    const edit = async (text: string) => {
      await page.goto(`${atrium.origin}/console/agents/${id}`)
      await page.getByRole('button', { name: 'Edit' }).click()
      assert.match(await field().inputValue(), /"crv": "P-256"/)
      await field().fill(text)
      await dialog().getByRole('button', { name: 'Save', exact: true }).click()
      await dialog().waitFor({ state: 'detached' })
    }
    await edit(JSON.stringify(second.jwk))
    assert.deepEqual(await keyOf(id), { kty: 'EC', crv: 'P-256', x: second.jwk.x, y: second.jwk.y })

    // A key with a problem is not the wish to have none.
    await page.goto(`${atrium.origin}/console/agents/${id}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog().getByLabel('Name').fill('Scribe')
    await field().fill(JSON.stringify(wrong.jwk))
    await page.evaluate('navigator.clipboard.writeText = (text) => Promise.resolve(void (globalThis.copied = text))')
    await dialog()
      .getByRole('button', { name: /^Copy as curl/ })
      .click()
    const copied = await (await page.waitForFunction('globalThis.copied')).jsonValue()
    assert.match(String(copied), /\{"name":\s*"Scribe"\}/)

    await edit('')
    assert.equal(await keyOf(id), undefined)
  })
})
