import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../share/start-test-browser.ts'
import { startSpace, type TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeRoom, newVisitor, write } from './testing/visitor.ts'

describe('what protects this room', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  async function runChecks(page: Page): Promise<Record<string, string>> {
    await page.getByRole('button', { name: 'Protection', exact: true }).click()
    await page.getByRole('button', { name: 'Check again' }).waitFor()
    const found = await page
      .locator('.check')
      .evaluateAll((items) => items.map((item) => [item.getAttribute('data-check'), item.className.replace('check ', '')]))
    return Object.fromEntries(found) as Record<string, string>
  }

  test('all is proved that a browser can prove, and what must be believed is said', async () => {
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    await write(ann.page, 'Something to be sealed')
    await ann.page.locator('.message').waitFor()
    const trusted = { running: 'trusted', memory: 'trusted', page: 'trusted' }
    const proved = Object.fromEntries(
      ['bytes', 'recipients', 'opens', 'chain', 'shown', 'certificate', 'pin', 'source', 'attest'].map((id) => [id, 'proved']),
    )
    assert.deepEqual(await runChecks(ann.page), { ...proved, ...trusted })
    // The stored bytes are fetched without the key and opened here.
    assert.ok(ann.sent.every(({ body }) => !body.includes('"op":"sealed"') || !body.includes('"mk"')))
    assertNoTrouble(ann)
    await ann.close()
  })

  test('one altered letter of what is stored is noticed, and history that no longer leads to what was shown, too', async (t) => {
    if (!space.tamper) return t.skip('nobody here can alter what is stored')
    const ann = await newVisitor(browser)
    const { room } = await makeRoom(ann.page, space)
    await write(ann.page, 'One')
    await write(ann.page, 'Two')
    await ann.page.locator('.message', { hasText: 'Two' }).waitFor()
    await space.tamper(room)
    const { opens, chain, recipients } = await runChecks(ann.page)
    assert.deepEqual({ opens, chain, recipients }, { opens: 'failed', chain: 'failed', recipients: 'proved' })
    assert.match((await ann.page.locator('.summary').textContent()) ?? '', /checks failed/)
    await ann.close()
  })

  test('a service that comes back with another key is met with a warning, until one says that it is expected', async (t) => {
    if (!space.changeKey) return t.skip('the key of this service does not change')
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    await ann.page.waitForFunction(() => localStorage.getItem('atrium.space.pin') !== null)
    space.changeKey()
    await ann.page.reload()
    await ann.page.getByRole('alert').getByText('is not the one that this browser knew').waitFor()
    await ann.page.getByRole('button', { name: 'What protects this room' }).click()
    await ann.page.getByRole('button', { name: 'Check again' }).waitFor()
    assert.equal(await ann.page.locator('[data-check=pin]').getAttribute('class'), 'check failed')
    await ann.page.getByRole('button', { name: 'I know why' }).click()
    await ann.page.locator('[data-check=pin].proved').waitFor()
    await ann.close()
  })
})
