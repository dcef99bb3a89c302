import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { auditWords } from '@atrium/contract/audit-words'
import { skipWithoutChromium } from '@atrium/web/share/start-test-browser'
import { startConsoleInChromium, type ConsoleInChromium } from '#testing/console-in-chromium.ts'
import { send } from '#testing/http.ts'

describe('what the console shows', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let world: ConsoleInChromium
  before(async () => {
    world = await startConsoleInChromium()
  })
  after(() => world?.close())

  test('the audit log names operations in words, and says where it has none', async () => {
    const { secretKey: key } = world.tenant
    await send(world.api, 'PUT', '/tenant/keys/leaks/policy', { key, body: { action: 'notify' } })
    for (const [as, path] of [
      ['tenant', '/settings/audit-log'],
      ['operator', '/audit-log'],
    ] as const) {
      const { page, problems } = await world.open('', { as })
      await page.route('**/audit-log*', async (route) => {
        const answer = await route.fetch()
        if (!answer.headers()['content-type']?.includes('json')) return route.fulfill({ response: answer })
        const { data, ...rest } = await answer.json()
        await route.fulfill({
          response: answer,
          json: { ...rest, data: [...data, { ...data[0], id: 'aud_1', operation: 'paintKey' }] },
        })
      })
      await page.goto(`${world.api.origin}/console${path}`)
      await page.getByText('An operation that this version of the console does not know: paintKey').waitFor()
      const names = await page.locator('tbody td[data-label="Operation"] b').allInnerTexts()
      assert.ok(names.includes('Choose what happens to leaked keys') && names.includes('Sign in to the console'), `${names}`)
      const words: string[] = Object.values(auditWords)
      for (const name of names) assert.ok(words.includes(name), name)
      assert.deepEqual(problems, [])
      await page.context().close()
    }
  })
})
