import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ensureConsole } from '@atrium/web/build/ensure-console'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '@atrium/web/testing/start-test-browser'
import type { Browser, BrowserContext } from 'playwright-core'
import { consoleLink, signIn } from '#testing/console.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

describe('the page of a one-time link', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let browser: Browser
  let api: TestApi
  before(async () => {
    ;[browser, api] = await Promise.all([startTestBrowser(), startTestApi(), ensureConsole()])
  })
  after(async () => {
    await browser?.close()
    await api?.close()
  })

  const visit = async (context: BrowserContext, { url }: { url: string }) => {
    const page = await context.newPage()
    await page.goto(`${api.origin}/console${new URL(url).hash}`)
    return { page, button: page.getByRole('button', { name: 'Open the console' }) }
  }
  const newContext = () => browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' })
  const newTenant = async (name: string) => {
    const { id } = await api.makeTenant(name)
    return { id, newLink: () => consoleLink(api, { kind: 'tenant', tenant_id: id }) }
  }

  test('names tenant, role and address before the click, and another tenant than that of the session', async () => {
    const [harbour, lantern] = [await newTenant('Harbour'), await newTenant('Lantern')]
    const context = await newContext()
    const first = await visit(context, await harbour.newLink())
    await first.page.getByText('This one-time link opens the console of Harbour as an owner.').waitFor()
    await first.button.click()
    await first.page.getByRole('heading', { name: 'Overview' }).waitFor()
    const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
    const isSignedIn = async () =>
      (await send({ baseUrl: api.origin }, 'GET', '/console/session', { headers: { cookie } })).status === 200

    const same = await visit(context, await harbour.newLink())
    await same.button.waitFor()
    assert.equal(await same.page.getByText('The link is for another tenant.').count(), 0)

    const owner = await signIn(api, await lantern.newLink())
    const body = { email: 'ada@harbour.example', role: 'developer' }
    const { invitation } = (await owner.send('POST', '/tenant/members', body)).body.data
    const { page, button } = await visit(context, invitation)
    await page.getByText('This invitation is for ada@harbour.example, with the role developer at Lantern.').waitFor()
    await page.getByText('The link is for another tenant.').waitFor()
    await page.getByText('This browser is signed in as an owner of Harbour. That session ends').waitFor()
    await assertAccessible(page)
    assert.equal(await isSignedIn(), true)
    await button.click()
    await page.getByText('developer', { exact: true }).waitFor()
    assert.equal(await isSignedIn(), false)
    await context.close()
  })

  test('offers no click before it knows what the link opens, and asks again', async () => {
    const context = await newContext()
    let isLost = true
    await context.route('**/console/link', (route) => (isLost ? route.abort() : route.continue()))
    const { page, button } = await visit(context, await (await newTenant('Harbour')).newLink())
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    assert.equal(await button.count(), 0)
    isLost = false
    await again.click()
    await button.click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await context.close()
  })
})
