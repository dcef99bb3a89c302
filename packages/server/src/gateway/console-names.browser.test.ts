import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { skipWithoutChromium } from '@atrium/web/testing/start-test-browser'
import type { Locator } from 'playwright-core'
import { phone, startConsoleInChromium, type ConsoleInChromium } from '#testing/console-in-chromium.ts'
import { send } from '#testing/http.ts'

describe('names in the console', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let world: ConsoleInChromium
  before(async () => {
    world = await startConsoleInChromium()
  })
  after(() => world?.close())

  test('a name in Arabic keeps its order in titles, sentences, buttons, messages and the list of commands', async () => {
    const name = 'ميناء بعيد!'
    const { id } = await world.api.makeTenant(name)
    /** The mark at the end of the name is at the left of its first letter. */
    const assertOrder = async (place: Locator) => {
      const isInOrder = await place.first().evaluate((element: any) => {
        const left = (letter: string): number | undefined => {
          const texts = element.ownerDocument.createNodeIterator(element, 4)
          for (let text = texts.nextNode(); text; text = texts.nextNode()) {
            const at = text.nodeValue.indexOf(letter)
            if (at < 0) continue
            const range = element.ownerDocument.createRange()
            range.setStart(text, at)
            range.setEnd(text, at + 1)
            return range.getBoundingClientRect().left
          }
          return undefined
        }
        return (left('!') ?? Number.NaN) < (left('م') ?? Number.NaN)
      })
      assert.ok(isInOrder, await place.first().innerText())
    }
    const { page } = await world.open(`/tenants/${id}`, { as: 'operator' })
    await page.getByRole('button', { name: 'Suspend', exact: true }).click()
    const question = page.getByRole('dialog')
    await assertOrder(question.getByRole('heading'))
    await assertOrder(question.locator('.prose p'))
    const suspend = question.getByRole('button', { name: 'Suspend' })
    await assertOrder(suspend)
    await suspend.click()
    await assertOrder(page.locator('.toast'))
    await page.context().close()

    const { secretKey: key } = world.tenant
    await send(world.api, 'POST', '/collections', { key, body: { metadata: { share_title: name } } })
    const { id: collection } = await world.makeCollection([name])
    const { page: own } = await world.open(`/collections/${collection}`)
    await own.locator('.item').focus()
    await own.keyboard.press('a')
    await assertOrder(own.locator('.toast'))
    await own.keyboard.press('Control+k')
    await own.getByRole('combobox', { name: 'Search and commands' }).fill('ميناء')
    await assertOrder(own.getByRole('option', { name }).locator('span'))
    await own.context().close()
  })

  test('a name of 120 characters without a space fits the questions about it on a phone; a longer title is clipped', async () => {
    const { id } = await world.api.makeTenant('W'.repeat(120))
    const { page } = await world.open(`/tenants/${id}`, { as: 'operator', ...phone })
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const question = page.getByRole('dialog')
    await question.getByText('to confirm').waitFor()
    // A box is cut at its edge, on both sides.
    const outside: number = await question.evaluate((dialog: any) => {
      const texts = dialog.ownerDocument.createNodeIterator(dialog, 4)
      const edges: number[] = []
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        const range = dialog.ownerDocument.createRange()
        range.selectNodeContents(text)
        const { left, right } = range.getBoundingClientRect()
        edges.push(-left, right - 390)
      }
      return Math.max(...edges)
    })
    assert.ok(outside <= 0, `${outside} px outside`)
    await page.context().close()

    const { secretKey: key } = world.tenant
    await send(world.api, 'POST', '/collections', { key, body: { metadata: { share_title: 'W'.repeat(2_000) } } })
    const { page: list } = await world.open('/collections', phone)
    const title = list.getByRole('link', { name: 'WWW' })
    assert.ok(((await title.boundingBox())?.height ?? 999) < 80)
    await title.click()
    await list.getByRole('heading', { name: 'W'.repeat(2_000) }).waitFor()
    await list.context().close()
  })

  test('a letter with a thousand accents in a title covers nothing of the page', async () => {
    const body = { metadata: { share_title: `Quay${'\u0301'.repeat(1_000)}` } }
    await send(world.api, 'POST', '/collections', { key: world.tenant.secretKey, body })
    const { page } = await world.open('/', phone)
    const title = page.getByRole('link', { name: 'Quay' })
    assert.equal((await title.textContent())?.length, 'Quay'.length + 6)
    await page.context().close()
  })

  test('a name with spaces and characters that are not shown is confirmed by what is shown', async () => {
    const { id } = await world.api.makeTenant('Far  Harbour\u200b cafe\u0301')
    const { page } = await world.open(`/tenants/${id}`, { as: 'operator' })
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const question = page.getByRole('dialog')
    const confirm = question.getByRole('button', { name: 'Delete' })
    await question.getByRole('textbox').fill('Far Harbour')
    assert.equal(await confirm.isDisabled(), true)
    await question.getByRole('textbox').fill('Far Harbour café')
    assert.equal(await confirm.isDisabled(), false)
    await page.context().close()
  })

  for (const [scheme, forcedColors, colour] of [
    ['light', 'none', 'rgb(43, 36, 27)'],
    ['dark', 'none', 'rgb(242, 234, 223)'],
    ['light', 'active', 'rgb(0, 0, 0)'],
  ] as const)
    test(`the cross of a search field has the colour of text: ${scheme}, forced colours ${forcedColors}`, async () => {
      const { page } = await world.open('/collections', { colorScheme: scheme, forcedColors })
      await page.getByLabel('Search by title').fill('x')
      const cdp = await page.context().newCDPSession(page)
      await cdp.send('DOM.enable')
      await cdp.send('CSS.enable')
      const { nodes } = await cdp.send('DOM.getFlattenedDocument', { depth: -1, pierce: true })
      const cross = nodes.find(({ attributes }) => attributes?.includes('-webkit-search-cancel-button'))
      const { computedStyle } = await cdp.send('CSS.getComputedStyleForNode', { nodeId: cross?.nodeId ?? 0 })
      assert.equal(computedStyle.find(({ name }) => name === 'background-color')?.value, colour)
      await page.context().close()
    })
})
