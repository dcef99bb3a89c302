import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { assertAccessible, skipWithoutChromium } from '@atrium/web/testing/start-test-browser'
import type { Page } from 'playwright-core'
import { phone, startConsoleInChromium, type ConsoleInChromium } from '#testing/console-in-chromium.ts'
import { send } from '#testing/http.ts'

interface FormCase {
  title: string
  path: string
  as?: 'operator'
  /** The button that opens the form. */
  opens?: string
  fill?: (page: Page) => Promise<void>
  /** The buttons that send it. */
  sends: string[]
  /** What the form sends without a field for it. */
  fixed?: string[]
}

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const field = (label: string, text: string) => (page: Page) => page.getByLabel(label, { exact: true }).fill(text)
const all =
  (...steps: ((page: Page) => Promise<void>)[]) =>
  async (page: Page) => {
    for (const step of steps) await step(page)
  }
const agent = all(field('Name', 'Keeper'), field('Description', 'Keeps the minutes.'))

describe('the forms of the console', { skip: skipWithoutChromium, timeout: 200_000 }, () => {
  let world: ConsoleInChromium
  let collectionId: string
  before(async () => {
    world = await startConsoleInChromium()
    collectionId = (await world.makeCollection(['a wish'])).id
  })
  after(() => world?.close())

  const cases: FormCase[] = [
    {
      title: 'New collection',
      path: '/collections',
      opens: 'New collection',
      fill: all(field('Title', 'Wishes'), (page) => page.getByLabel(/^Show the items on a wall/).check()),
      sends: ['Make the collection'],
      fixed: ['/item_access'],
    },
    {
      title: 'Pages and access of a collection',
      path: '/collections/:id/settings',
      fill: all(
        field('Title', 'Wishes'),
        field('Description', 'Write one.'),
        async (page) => void (await page.getByLabel('Theme').selectOption('neon')),
        async (page) => void (await page.getByLabel('Who may add items').selectOption('token')),
        async (page) => void (await page.getByLabel('Who sees new items').selectOption('owner')),
        (page) => page.getByLabel(/^Show the open items on a wall/).uncheck(),
      ),
      sends: ['Save'],
    },
    { title: 'New agent, hosted', path: '/agents', opens: 'New agent', fill: agent, sends: ['Register the agent'] },
    {
      title: 'New agent, remote',
      path: '/agents',
      opens: 'New agent',
      fill: all(
        agent,
        async (page) => void (await page.getByLabel('Where it runs').selectOption('remote')),
        field('Endpoint', 'https://agents.example/keeper'),
      ),
      sends: ['Register the agent'],
      // A remote agent is not metered.
      fixed: ['/credits_per_1k_tokens', '/credits_per_tool_call'],
    },
    { title: 'New key', path: '/keys', opens: 'New key', fill: field('Name', 'billing'), sends: ['Create the key'] },
    { title: 'Rotate a key', path: '/keys', opens: 'Rotate', sends: ['Rotate the key'], fixed: ['/kind', '/rotates'] },
    {
      title: 'New endpoint',
      path: '/webhooks',
      opens: 'New endpoint',
      fill: all(field('Address', 'https://hooks.example/2'), field('Description', 'orders'), (page) =>
        page.getByLabel('item.created').check(),
      ),
      sends: ['Add the endpoint'],
    },
    {
      title: 'Grant a coupon',
      path: '/credits',
      opens: 'Grant a coupon',
      fill: all(field('Memo', 'thanks'), field('Last day (UTC)', '2100-01-01')),
      sends: ['Grant the coupon'],
    },
    {
      title: 'Sell credits',
      path: '/credits',
      opens: 'Sell credits',
      sends: ['Make the payment page'],
      fixed: ['/success_url', '/cancel_url'],
    },
    {
      title: 'Publish an epoch',
      path: '/credits/epochs',
      opens: 'Publish an epoch',
      fill: all(
        field('Public key (JWK)', JSON.stringify(publicKey.export({ format: 'jwk' }))),
        field('Last day (UTC)', '2100-01-01'),
      ),
      sends: ['Publish', 'Publish the epoch'],
    },
    {
      title: 'Invite a member',
      path: '/settings/members',
      opens: 'Invite a member',
      fill: all(
        field('E-mail address', 'ada@harbour.example'),
        field('Name', 'Ada'),
        async (page) => void (await page.getByLabel('Role').selectOption('developer')),
      ),
      sends: ['Make the invitation'],
    },
    {
      title: 'Key of a model provider',
      path: '/settings',
      opens: 'Set: OpenAI',
      fill: field('Key', 'sk-0123456789'),
      sends: ['Save the key'],
    },
    {
      title: 'New tenant',
      path: '/tenants',
      as: 'operator',
      opens: 'New tenant',
      fill: all(field('Name', 'Ferry'), field('E-mail address', 'a@ferry.example'), (page) => page.getByLabel(/^App/).check()),
      sends: ['Create the tenant'],
    },
    {
      title: 'Limits of a tenant',
      path: '/tenants/:id',
      as: 'operator',
      opens: 'Change the limits',
      fill: field('Rate limits, % of the default', '50'),
      sends: ['Save the limits'],
    },
    {
      title: 'Edit a tenant',
      path: '/tenants/:id',
      as: 'operator',
      opens: 'Edit',
      fill: all(field('Name', 'Ferry'), field('E-mail address', 'a@ferry.example'), (page) => page.getByLabel(/^App/).click()),
      sends: ['Save'],
    },
    { title: 'New invite', path: '/invites', as: 'operator', opens: 'New invite', sends: ['Create the invite'] },
    {
      title: 'New credential',
      path: '/operators',
      as: 'operator',
      opens: 'New credential',
      fill: field('Name', 'pipeline'),
      sends: ['Create the credential'],
    },
  ]

  const open = async ({ path, as, opens }: FormCase, options = {}) => {
    const id = as === 'operator' ? world.tenant.id : collectionId
    const opened = await world.open(path.replace(':id', id), { ...(as && { as }), expected: /status of 4/, ...options })
    const { page } = opened
    await page.locator('.loading').first().waitFor({ state: 'detached' })
    if (opens) await page.locator('main').getByRole('button', { name: opens, exact: true }).first().click()
    return opened
  }

  for (const form of cases)
    test(`${form.title}: each field shows what the server says of it, and the first one has the focus`, async () => {
      const { page, problems } = await open(form)
      let paths: string[] = []
      await page.route('**/*', (route) => {
        if (!['POST', 'PUT', 'PATCH'].includes(route.request().method())) return route.continue()
        paths = leavesOf(route.request().postDataJSON())
        const details = paths.map((path) => ({ path, message: `wrong ${path}.` }))
        const error = { code: 'invalid_request', message: 'Several fields.', request_id: 'req_0123456789', details }
        return route.fulfill({ status: 400, json: { error } })
      })
      await form.fill?.(page)
      for (const name of form.sends) await page.getByRole('button', { name, exact: true }).click()
      const note = page.locator('form .failure')
      await note.waitFor()
      const { fixed = [] } = form
      const wanted = paths.filter((path) => !fixed.some((one) => path.startsWith(one))).map((path) => `wrong ${path}.`)
      assert.ok(wanted.length > 0)
      const errors = await page.locator('.field-error').allInnerTexts()
      assert.deepEqual(errors.flatMap((text) => text.split(' · ')).toSorted(), wanted.toSorted())
      const described = await page.evaluate<string[]>(`[...document.querySelectorAll('[aria-invalid=true], [data-invalid]')]
        .flatMap((control) => control.getAttribute('aria-describedby').split(' '))
        .filter((id) => id.endsWith('-error')).map((id) => document.getElementById(id).innerText)`)
      assert.deepEqual(described, errors)
      const inNote = await note.innerText()
      for (const text of wanted) assert.ok(!inNote.includes(text), inNote)
      const isAtFirst = `document.activeElement ===
        document.querySelector('[aria-invalid=true], [data-invalid] :is(input, select)')`
      assert.ok(await page.evaluate<boolean>(isAtFirst))
      await assertAccessible(page, form.title)
      assert.deepEqual(problems, [])
      await page.context().close()
    })

  test('the settings of a collection: only what was changed in the form is sent, and what others changed is shown', async () => {
    const { id, token: collectionToken } = await world.makeCollection([])
    const { page, problems } = await world.open(`/collections/${id}/settings`)
    const title = page.getByLabel('Title', { exact: true })
    const wall = page.getByLabel(/^Show the open items on a wall/)
    await title.fill('Lantern evening')
    const owner = { key: world.tenant.publishableKey, collectionToken }
    const others = { metadata: { share_description: 'By the lake', theme: 'neon' }, contributor_policy: 'token', wall: false }
    assert.equal((await send(world.api, 'PATCH', `/collections/${id}`, { ...owner, body: others })).status, 200)
    const sent: unknown[] = []
    page.on('request', (request) => request.method() === 'PATCH' && sent.push(request.postDataJSON()))
    const save = async () => {
      const answer = page.waitForResponse((res) => res.request().method() === 'PATCH')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      assert.equal((await answer).status(), 200)
      await page.locator('form button[type=submit]:enabled').waitFor()
    }
    await save()
    const { data } = (await send(world.api, 'GET', `/collections/${id}`, owner)).body
    assert.deepEqual(data.metadata, { share_title: 'Lantern evening', share_description: 'By the lake', theme: 'neon' })
    assert.deepEqual([data.contributor_policy, data.wall], ['token', false])
    assert.deepEqual(
      [
        await page.getByLabel('Description', { exact: true }).inputValue(),
        await page.getByLabel('Theme').inputValue(),
        await page.getByLabel('Who may add items').inputValue(),
        await wall.isChecked(),
      ],
      ['By the lake', 'neon', 'token', false],
    )
    await title.fill(' ')
    await wall.check()
    await wall.uncheck()
    await save()
    await save()
    assert.deepEqual(sent, [
      { metadata: { share_title: 'Lantern evening' } },
      { metadata: { share_title: null }, wall: false },
      { metadata: {} },
    ])
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a form with empty or wrong fields is not sent, names each, and forgets what is corrected', async () => {
    const { page, problems } = await open(
      { title: '', path: '/settings/members', opens: 'Invite a member', sends: [] },
      { ...phone, colorScheme: 'dark' },
    )
    const sent: string[] = []
    page.on('request', (request) => request.method() !== 'GET' && sent.push(request.url()))
    const [email, role] = [page.getByLabel('E-mail address'), page.getByLabel('Role')]
    const errors = () => page.locator('.field-error').allInnerTexts()
    // The focus moves with the errors, also if the next frame comes late.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 10_000)
    await page.getByRole('button', { name: 'Make the invitation' }).click()
    await page.locator('.field-error').first().waitFor()
    assert.deepEqual(await errors(), ['Fill in this field.', 'Choose one.'])
    await page.locator('input[type=email]:focus[aria-invalid=true]').waitFor()
    await page.clock.resume()
    await assertAccessible(page, 'a form that was not sent')
    await page.keyboard.type('ada')
    await role.selectOption('developer')
    assert.deepEqual(await errors(), [])
    await page.keyboard.press('Tab')
    await page.getByRole('button', { name: 'Make the invitation' }).click()
    await page.getByText('This is not an e-mail address.').waitFor()
    await email.fill('ada@harbour')
    await page.keyboard.press('Enter')
    await page.getByText('An address with a domain, such as maria@example.com.').waitFor()
    assert.deepEqual(sent, [])
    assert.deepEqual(problems, [])
    await page.context().close()
  })
})

/** The places of all values: /model/id, /events/0. */
function leavesOf(value: unknown, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return [at]
  const entries = Object.entries(value)
  return entries.length === 0 ? [at] : entries.flatMap(([name, inner]) => leavesOf(inner, `${at}/${name}`))
}
