import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { assertAccessible, skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { freePort } from './support/atrium-process.ts'
import { runAtrium } from './support/run-atrium.ts'

const elsewhere = Object.values(networkInterfaces())
  .flat()
  .find((one) => one && !one.internal && one.family === 'IPv4')?.address

describe('the console on a fresh machine', { skip: skipWithoutChromium, timeout: 240_000 }, () => {
  let base: string
  let origin: string
  let atrium: ReturnType<typeof runAtrium>
  let browser: Browser
  before(async () => {
    base = await mkdtemp(join(tmpdir(), 'atrium-fresh-'))
    await chmod(base, 0o755)
    const port = await freePort()
    origin = `http://localhost:${port}`
    const env = { ATRIUM_DATA_DIR: join(base, 'data'), PORT: String(port), HOST: '0.0.0.0', ATRIUM_RATE_LIMIT: 'off' }
    atrium = runAtrium(['start', '--no-space'], env)
    for (const deadline = Date.now() + 60_000; !atrium.output().includes('Open the console.'); await delay(50))
      assert.ok(Date.now() < deadline, atrium.output())
    browser = await startTestBrowser()
  })
  after(async () => {
    await browser?.close()
    atrium?.kill()
    await atrium?.ended(10_000)
    await rm(base, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
  })

  const visit = async () => (await browser.newContext({ locale: 'en-GB' })).newPage()
  type Visit = Awaited<ReturnType<typeof visit>>
  const openLink = async (page: Visit, link: string) => {
    await page.goto(link)
    await page.getByRole('button', { name: 'Open the console' }).click()
  }
  /** Types an address into the development sign-in, with the keyboard alone. */
  const identify = async (page: Visit, email: string) => {
    await page.waitForURL(`${origin}/dev-identity/authorize?**`)
    await page.locator('#email:focus').waitFor()
    await page.keyboard.type(email)
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname.startsWith('/console'))
  }
  const signIn = async (page: Visit, email: string) => {
    await page.goto(`${origin}/console`)
    await page.getByRole('link', { name: 'Sign in for development' }).click()
    await identify(page, email)
  }
  const kindOf = async (page: Visit) => {
    const answer = await page.evaluate<{ data?: { kind: string; role: string } }>(
      `fetch('/console/session').then((res) => res.json())`,
    )
    return answer.data && [answer.data.kind, answer.data.role]
  }

  test('an owner invites an address, which signs in with the development sign-in from then on', async () => {
    const owner = await visit()
    await openLink(owner, /http\S+#link=\S+/.exec(atrium.output())?.[0] ?? assert.fail(atrium.output()))
    await owner.getByRole('heading', { name: 'Overview' }).waitFor()
    await owner.goto(`${origin}/console/settings/members`)
    await owner.getByRole('button', { name: 'Invite' }).first().click()
    const dialog = owner.getByRole('dialog')
    const make = dialog.getByRole('button', { name: 'Make the invitation' })
    await dialog.getByLabel('E-mail address').fill('ada@harbour')
    await dialog.getByLabel('Role').selectOption('developer')
    await make.click()
    await dialog.locator('input:invalid').waitFor()
    await dialog.getByLabel('E-mail address').fill('ada@harbour.example')
    await dialog.getByLabel('Role').selectOption('')
    await make.click()
    await dialog.locator('select:invalid').waitFor()
    await dialog.getByLabel('Role').selectOption('developer')
    await make.click()
    await owner.getByText('Atrium sends no e-mail. Send this link to ada@harbour.example yourself').waitFor()
    const link = await owner
      .getByText(/#link=/)
      .first()
      .textContent()

    const ada = await visit()
    await openLink(ada, link ?? '')
    await identify(ada, 'ada@harbour.example')
    await ada.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.deepEqual(await kindOf(ada), ['tenant', 'developer'])

    const again = await visit()
    await again.goto(`${origin}/console`)
    await again.getByText('accepts the address of every member without a check').waitFor()
    await assertAccessible(again)
    await signIn(again, 'ADA@harbour.example')
    await again.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.deepEqual(await kindOf(again), ['tenant', 'developer'])

    await owner.goto(`${origin}/console/settings/members`)
    const row = owner.getByRole('row', { name: 'ada@harbour.example' })
    for (const [name, shown] of [
      ['Ada Lovelace', 'Ada Lovelace'],
      ['', 'ada@harbour.example'],
    ] as const) {
      await row.getByRole('button', { name: 'Edit' }).click()
      await dialog.getByLabel('Name').fill(name)
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      await row.locator('b', { hasText: shown }).waitFor()
    }

    const eve = await visit()
    await signIn(eve, 'eve@harbour.example')
    await eve.getByText('This account belongs to no member.').waitFor()
    assert.equal(await kindOf(eve), undefined)
  })

  const makeLink = async (...args: string[]) => {
    const env = { ATRIUM_DATA_DIR: join(base, 'data'), PORT: new URL(origin).port, ATRIUM_PUBLIC_URL: origin }
    const made = runAtrium(['console-link', ...args], env)
    assert.equal(await made.ended(20_000), 0, made.output())
    return made.output().trim()
  }

  test('without a tenant, the command that the sign-in page names lists a complete one for each', async () => {
    const env = { ATRIUM_DATA_DIR: join(base, 'data'), PORT: new URL(origin).port, ATRIUM_PUBLIC_URL: origin }
    const listed = runAtrium(['console-link'], env)
    assert.equal(await listed.ended(20_000), 1, listed.output())
    const tenant = /console-link (--tenant) (ten_\w{22}) {2}# \S/.exec(listed.output()) ?? assert.fail(listed.output())
    assert.match(await makeLink(...tenant.slice(1)), /#link=/)
  })

  test('a link opens in a tab that shows the console, whoever is signed in there; a used one leads on', async () => {
    const page = await visit()
    const openConsole = page.getByRole('button', { name: 'Open the console' })
    await page.goto(`${origin}/console`)
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor()
    const link = await makeLink('--operator')
    // The address differs in its fragment alone, so the browser does not load the page again by itself.
    await openLink(page, link)
    await openConsole.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    await page.goto(link)
    await page.getByText('The link to the console is not valid').waitFor()
    await assertAccessible(page)
    assert.ok(!page.url().includes('#link='), 'a secret stays in the address')
    await page.getByRole('button', { name: 'Back to the console' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.deepEqual((await kindOf(page))?.[0], 'operator')

    await page.goto(await makeLink('--operator'))
    await page.getByText('This one-time link opens the console of the operator.').waitFor()
    await page.getByText('This browser is signed in as an operator.').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Stay signed in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in for development' }).waitFor()
    assert.equal(await openConsole.count(), 0, 'the link was given up')
  })

  test('a link of another site asks before it signs in, and then ends the session of this browser', async () => {
    const page = await visit()
    await openLink(page, await makeLink('--operator'))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
    const statusOf = async () => (await fetch(`${origin}/console/session`, { headers: { cookie } })).status
    assert.equal(await statusOf(), 200)
    const follow = async () => {
      // For Chromium, an address with another host name is another site.
      await page.goto(`${origin.replace('localhost', '127.0.0.1')}/healthz`)
      await page.evaluate(`location.href = '${origin}/console/oidc/start'`)
      await page.getByText('This browser is signed in as an operator.').waitFor()
    }
    await follow()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Stay signed in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await follow()
    await page.getByRole('link', { name: 'Sign in for development' }).click()
    await identify(page, 'ada@harbour.example')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.deepEqual(await kindOf(page), ['tenant', 'developer'])
    assert.equal(await statusOf(), 401)
  })

  test('it signs nobody in as an operator, also not in a browser where one is signed in', async () => {
    const page = await visit()
    await openLink(page, await makeLink('--operator'))
    await page.getByRole('button', { name: 'Open the console' }).waitFor({ state: 'detached' })
    assert.deepEqual((await kindOf(page))?.[0], 'operator')
    await page.goto(`${origin}/console/oidc/start?tenant=operator`)
    await identify(page, 'operator@harbour.example')
    assert.match(page.url(), /sign_in=not_a_member/)
    await page.context().clearCookies()
    await signIn(page, 'operator@harbour.example')
    await page.getByText('This account belongs to no member.').waitFor()
    assert.equal(await kindOf(page), undefined)
  })

  const proxied = { 'x-forwarded-for': '203.0.113.7' }
  const reach = async (at: string, headers: Record<string, string> = {}) => {
    const ways = await fetch(`${at}/console/sign-in`, { headers })
    const [start, back] = await Promise.all(
      ['start', 'callback?code=x&state=y'].map((path) => fetch(`${at}/console/oidc/${path}`, { headers, redirect: 'manual' })),
    )
    return [((await ways.json()) as { data: unknown }).data, start?.status, back?.status]
  }
  const closed = [{ oidc: false, development: false }, 404, 404]

  test('it is there for this machine only: through a proxy it does not exist', async () => {
    assert.deepEqual(await reach(origin), [{ oidc: true, development: true }, 303, 303])
    assert.deepEqual(await reach(origin, proxied), closed)
  })

  test('nor over the network, where the server listens to it', { skip: elsewhere ? false : 'no network' }, async () => {
    assert.deepEqual(await reach(origin.replace('localhost', elsewhere ?? '')), closed)
  })
})
