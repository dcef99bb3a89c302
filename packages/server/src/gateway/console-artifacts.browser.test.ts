import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertAccessible, skipWithoutChromium } from '@atrium/web/testing/start-test-browser'
import { phone, startConsoleInChromium, type ConsoleInChromium } from '#testing/console-in-chromium.ts'
import { send } from '#testing/http.ts'

describe('the artifacts of a collection in the console', { skip: skipWithoutChromium, timeout: 60_000 }, () => {
  let world: ConsoleInChromium
  before(async () => {
    world = await startConsoleInChromium()
  })
  after(() => world?.close())

  test('title and alt text are written, changed and removed in a form', async () => {
    const { id, token: collectionToken } = await world.makeCollection([])
    const owner = { key: world.tenant.secretKey, collectionToken }
    const body = { kind: 'image', url: 'https://pictures.example/pier.png' }
    const made = await send(world.api, 'POST', `/collections/${id}/artifacts`, { ...owner, body })
    const read = async () => {
      const { data } = (await send(world.api, 'GET', `/collections/${id}/artifacts/${made.body.data.id}`, owner)).body
      return [data.title, data.alt]
    }
    const { page, problems } = await world.open(`/collections/${id}/artifacts`, { ...phone, expected: /status of 400/ })
    const card = page.locator('.artifact')
    const open = () => card.getByRole('button', { name: 'Describe' }).click()
    const form = page.getByRole('dialog', { name: 'Title and alt text' })
    const [title, alt] = [form.getByLabel('Title', { exact: true }), form.getByLabel('Alt text')]
    const save = async () => {
      await form.getByRole('button', { name: 'Save', exact: true }).click()
      await form.waitFor({ state: 'detached' })
    }
    await card.getByText('Linked image').waitFor()
    await open()
    assert.equal(await page.evaluate('document.activeElement.labels[0].textContent'), 'Title')
    await assertAccessible(page, 'the form')
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    await title.fill('The pier')
    await alt.fill('A pier at dusk,\nunder lanterns')
    await save()
    await card.locator('b', { hasText: 'The pier' }).waitFor()
    assert.deepEqual(await read(), ['The pier', 'A pier at dusk,\nunder lanterns'])

    await open()
    assert.equal(await title.inputValue(), 'The pier')
    await title.fill('')
    await save()
    await card.locator('b', { hasText: 'Linked image' }).waitFor()
    assert.deepEqual(await read(), [undefined, 'A pier at dusk,\nunder lanterns'])

    await open()
    await title.fill('   ')
    await alt.fill('')
    await save()
    assert.deepEqual(await read(), [undefined, undefined], 'blanks alone are no title')
    await open()
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Describe')

    // What is changed on a later page of the list stays shown.
    await send(world.api, 'POST', `/collections/${id}/artifacts`, { ...owner, body })
    await page.route('**/artifacts?limit=50*', (route) =>
      route.continue({ url: route.request().url().replace('limit=50', 'limit=1') }),
    )
    await page.reload()
    await page.getByRole('button', { name: 'Load more' }).click()
    await card.nth(1).getByRole('button', { name: 'Publish', exact: true }).click()
    await card.nth(1).getByRole('button', { name: 'Withdraw' }).waitFor()
    assert.equal(await card.count(), 2)
    assert.deepEqual(problems, [])
    await page.context().close()
  })
})
