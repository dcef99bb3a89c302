import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { skipWithoutChromium } from '@atrium/web/testing/start-test-browser'
import type { Page } from 'playwright-core'
import { startConsoleInChromium, type ConsoleInChromium } from '#testing/console-in-chromium.ts'
import { send } from '#testing/http.ts'

/** While the form is open, somebody else changes the other fields of the same thing. */
describe(
  'forms of the console that edit something send what was changed in them',
  { skip: skipWithoutChromium, timeout: 120_000 },
  () => {
    let world: ConsoleInChromium
    before(async () => {
      world = await startConsoleInChromium()
    })
    after(() => world?.close())

    const ask = async (method: string, path: string, options: Parameters<typeof send>[3]) => {
      const { status, body } = await send(world.api, method, path, options)
      assert.ok(status < 300, `${method} ${path}: ${status}`)
      return body.data
    }
    const field = (page: Page, label: string) => page.getByRole('dialog').getByLabel(label, { exact: true })
    /** Sends the form. Returns the bodies of what it changed. */
    const save = async (page: Page, button = 'Save') => {
      const sent: unknown[] = []
      page.on('request', (request) => request.method() !== 'GET' && sent.push(request.postDataJSON()))
      await page.getByRole('button', { name: button, exact: true }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      return sent
    }

    test('an agent', async () => {
      const { secretKey: key } = world.tenant
      const body = { name: 'Keeper', description: 'Keeps.', instructions: 'Be brief.', price_credits: 5, max_minutes: 30 }
      const { id } = (await send({ baseUrl: world.api.origin }, 'POST', '/agents', { key, body })).body.data
      const change = (patch: object) => send({ baseUrl: world.api.origin }, 'PATCH', `/agents/${id}`, { key, body: patch })
      const { page, problems } = await world.open(`/agents/${id}`)
      const edit = () => page.getByRole('button', { name: 'Edit', exact: true }).click()
      await edit()
      await field(page, 'Name').fill('Night keeper')
      const others = { instructions: 'Be kind.', price_credits: 9, greeting: 'Hello', model: { provider: 'openai', id: 'gpt' } }
      assert.equal((await change(others)).status, 200)
      assert.deepEqual(await save(page), [{ name: 'Night keeper' }])
      const { data } = (await send({ baseUrl: world.api.origin }, 'GET', `/agents/${id}`, { key })).body
      const { instructions, price_credits, greeting, model } = data
      assert.deepEqual({ instructions, price_credits, greeting, model }, others)
      await page.getByText('openai / gpt').waitFor()

      await edit()
      await field(page, 'Where it runs').selectOption('remote')
      await field(page, 'Endpoint').fill('https://agents.example/keeper')
      await field(page, 'Greeting').fill(' ')
      const moved = {
        model: null,
        endpoint: 'https://agents.example/keeper',
        encryption_key: null,
        credits_per_1k_tokens: 0,
        credits_per_tool_call: 0,
        greeting: null,
      }
      await page.route(`**/agents/${id}`, (route) => route.fulfill({ json: { data } }))
      assert.deepEqual(await save(page), [moved])
      await edit()
      assert.deepEqual(await save(page), [], 'nothing was changed')
      assert.deepEqual(problems, [])
      await page.context().close()
    })

    test('a webhook endpoint', async () => {
      const { secretKey: key } = world.tenant
      const body = { url: 'https://hooks.example/1', events: ['item.created'], description: 'orders' }
      const { id } = await ask('POST', '/tenant/webhooks/endpoints', { key, body })
      const { page, problems } = await world.open(`/webhooks/${id}`)
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await field(page, 'Description').fill('orders of the shop')
      const others = { url: 'https://hooks.example/2', events: ['item.created', 'item.deleted'] }
      await ask('PATCH', `/tenant/webhooks/endpoints/${id}`, { key, body: others })
      assert.deepEqual(await save(page), [{ description: 'orders of the shop' }])
      await page.getByText('item.created, item.deleted').waitFor()
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      for (const type of ['item.created', 'item.deleted']) await field(page, type).uncheck()
      assert.deepEqual(await save(page), [{ events: null }])
      assert.deepEqual(problems, [])
      await page.context().close()
    })

    test('a member', async () => {
      const { page, problems } = await world.open('/settings/members')
      await page.getByRole('button', { name: 'Invite a member' }).click()
      await field(page, 'E-mail address').fill('ada@harbour.example')
      await field(page, 'Role').selectOption('analyst')
      await page.getByRole('button', { name: 'Make the invitation' }).click()
      await page.getByLabel(/^I have copied it/).check()
      await page.getByRole('button', { name: 'Done' }).click()
      const edit = () => page.getByRole('button', { name: 'Edit', exact: true }).click()
      await edit()
      await field(page, 'Name').fill('Ada')
      assert.deepEqual(await save(page), [{ name: 'Ada' }])
      await page.locator('b', { hasText: 'Ada' }).waitFor()
      await edit()
      await field(page, 'Role').selectOption('developer')
      assert.deepEqual(await save(page), [{ role: 'developer' }])
      assert.deepEqual(problems, [])
      await page.context().close()
    })

    test('the texts of an artifact', async () => {
      const { id, token: collectionToken } = await world.makeCollection([])
      const owner = { key: world.tenant.secretKey, collectionToken }
      const body = { kind: 'image', url: 'https://pictures.example/pier.png', title: 'The pier' }
      const made = await ask('POST', `/collections/${id}/artifacts`, { ...owner, body })
      const { page, problems } = await world.open(`/collections/${id}/artifacts`)
      await page.getByRole('button', { name: 'Describe' }).click()
      await field(page, 'Alt text').fill('A pier at dusk')
      const path = `/collections/${id}/artifacts/${made.id}`
      await ask('PATCH', path, { ...owner, body: { title: 'The old pier' } })
      assert.deepEqual(await save(page), [{ alt: 'A pier at dusk' }])
      await page.getByText('The old pier').first().waitFor()
      assert.deepEqual(problems, [])
      await page.context().close()
    })

    test('a tenant and its limits', async () => {
      const tenant = await world.api.makeTenant('Ferry')
      const operator = { headers: { 'x-admin-token': world.api.adminToken } }
      const limits = `/tenants/${tenant.id}/limits`
      await ask('PUT', limits, { ...operator, body: { rate_percent: 50, active_sessions: 3 } })
      const { page, problems } = await world.open(`/tenants/${tenant.id}`, { as: 'operator' })
      await page.getByRole('button', { name: 'Change the limits' }).click()
      await field(page, 'Rate limits, % of the default').fill('80')
      await field(page, 'Open event streams').fill('7')
      await ask('PUT', limits, { ...operator, body: { rate_percent: 60, open_uploads: 9 } })
      assert.deepEqual(await save(page, 'Save the limits'), [{ rate_percent: 80, open_streams: 7, open_uploads: 9 }])

      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await field(page, 'Name').fill('Ferry line')
      await ask('PATCH', `/tenants/${tenant.id}`, { ...operator, body: { email: 'ann@ferry.example', roles: ['app'] } })
      assert.deepEqual(await save(page), [{ name: 'Ferry line' }])
      await page.getByText('ann@ferry.example').waitFor()
      assert.deepEqual(problems, [])
      await page.context().close()
    })
  },
)
