import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { send } from '../../server/testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '../../server/testing/test-api.ts'
import { fresh, startAgentWorld } from '../../space/src/testing/agent-world.ts'
import { skipWithoutChromium, startTestBrowser, startTestServer } from '../../web/src/testing/start-test-browser.ts'
import { createClient } from './create-client.ts'
import { openRoom } from './open-room.ts'
import { useCollection, useItems, useOwnerItems, useRoom } from './react.ts'

/** An app that shows what each hook returns. */
const app = `
import { createElement, StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { createClient } from './create-client.ts'
import { openRoom } from './open-room.ts'
import { useCollection, useItems, useOwnerItems, useRoom } from './react.ts'

const given = globalThis.given
const client = createClient({ baseUrl: given.origin, key: given.key })
const room = openRoom({ spaceUrl: given.spaceUrl, room: given.room, mk: given.mk })

function Items({ order }) {
  const { items, status, error, hasMore, loadMore } = useItems(client, { id: given.id, order, limit: 3 })
  return createElement('section', { id: 'items', 'data-status': status, 'data-error': error?.message },
    createElement('ol', null, items.map((item) => createElement('li', { key: item.id }, item.content))),
    hasMore && createElement('button', { onClick: loadMore }, 'More'))
}
function Waiting() {
  const { items, status, hasMore, loadMore, curate, remove } =
    useOwnerItems(client, { id: given.id, collectionToken: given.token, filters: { approved: false }, order: 'oldest', limit: 2 })
  return createElement('section', { id: 'waiting', 'data-status': status },
    createElement('ol', null, items.map((item) => createElement('li', { key: item.id }, item.content))),
    hasMore && createElement('button', { onClick: loadMore }, 'More waiting'),
    createElement('button', { onClick: () => curate(items[0].id, { approved: true }) }, 'Approve'),
    createElement('button', { onClick: () => curate(items.map(({ id }) => id), { approved: true }) }, 'Approve all'),
    createElement('button', { onClick: () => remove(items[0].id) }, 'Delete'))
}
function Title() {
  const { collection, status } = useCollection(client, { id: given.id, collectionToken: given.token })
  return createElement('h1', { 'data-status': status }, collection?.metadata.share_title)
}
function Talk() {
  const { entries, status, say } = useRoom(room)
  return createElement('section', { id: 'room', 'data-status': status },
    createElement('ol', null, entries.map((entry) => createElement('li', { key: entry.id }, entry.message.text))),
    createElement('button', { onClick: () => say('Said in the page') }, 'Say'))
}
function App() {
  const [order, setOrder] = useState('newest')
  const [shown, setShown] = useState(true)
  return createElement('main', null,
    createElement('button', { onClick: () => setOrder('oldest') }, 'Oldest'),
    createElement('button', { onClick: () => setShown(!shown) }, 'Toggle'),
    shown && [createElement(Items, { key: 1, order }), createElement(Title, { key: 2 }), createElement(Talk, { key: 3 }), createElement(Waiting, { key: 4 })])
}
createRoot(document.getElementById('root')).render(createElement(StrictMode, null, createElement(App)))
`

async function bundle(alias: Record<string, string>): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: app, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"development"' },
    alias,
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]!.text
}

describe('hooks for React', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let browser: Browser
  let api: TestApi
  let tenant: TestTenant
  let world: Awaited<ReturnType<typeof startAgentWorld>>
  before(async () => {
    browser = await startTestBrowser()
    api = await startTestApi()
    tenant = await api.makeTenant()
    world = await startAgentWorld()
  })
  after(async () => {
    await browser?.close()
    await world?.close()
    await api?.close()
  })

  async function make() {
    const key = tenant.publishableKey
    const body = { item_access: 'open', metadata: { share_title: 'Lantern night' } }
    const { data } = (await send(api, 'POST', '/collections', { key, body })).body
    const owner = { key, collectionToken: data.admin_token as string }
    const add = async (content: string) =>
      (await send(api, 'POST', `/collections/${data.id}/items`, { key, body: { type: 'm', content } })).body.data.id as string
    const spaceUrl = `${world.space.origin}/space`
    return {
      given: { origin: api.origin, key, id: data.id as string, token: owner.collectionToken, spaceUrl, ...fresh() },
      owner,
      add,
    }
  }

  /** Opens the app in a page. */
  async function openApp(given: object, alias: Record<string, string> = {}) {
    const script = await bundle(alias)
    const site = await startTestServer((req, res) => {
      if (req.url === '/app.js') return void res.setHeader('content-type', 'text/javascript').end(script)
      const set = `<script>globalThis.given = ${JSON.stringify(given)}</script>`
      res
        .setHeader('content-type', 'text/html')
        .end(`<!doctype html><div id="root"></div>${set}<script type="module" src="/app.js"></script>`)
    })
    const page = await browser.newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 404/.test(message.text())) problems.push(message.text())
    })
    const close = async () => {
      await page.close()
      site.stop()
    }
    const start = () => page.goto(site.origin)
    return { page, problems, start, close }
  }

  const versions: Record<string, Record<string, string>> = {
    19: {},
    18: { react: 'react-18', 'react-dom': 'react-dom-18' },
  }
  for (const [version, alias] of Object.entries(versions)) {
    test(`React ${version}, in strict mode: lists, streams and rooms are live, and end with the component`, async () => {
      const { given, owner, add } = await make()
      for (const text of ['one', 'two', 'three', 'four']) await add(text)
      const { page, problems, start, close } = await openApp(given, alias)
      try {
        await start()
        const shows = (list: string, texts: string[]) => until(page, `#${list} li`, texts)
        await shows('items', ['four', 'three', 'two'])
        await page.locator('h1', { hasText: 'Lantern night' }).waitFor()
        await page.getByRole('button', { name: 'More' }).click()
        await shows('items', ['four', 'three', 'two', 'one'])
        const id = await add('five')
        await shows('items', ['five', 'four', 'three', 'two', 'one'])
        await send(api, 'PATCH', `/collections/${given.id}/items/${id}`, { ...owner, body: { archived: true } })
        await shows('items', ['four', 'three', 'two', 'one'])
        await send(api, 'PATCH', `/collections/${given.id}`, { ...owner, body: { metadata: { share_title: 'Harbour' } } })
        await page.locator('h1', { hasText: 'Harbour' }).waitFor()

        // Others hold back items: the owner's list has them, page by page, and lets them through.
        const hidden: string[] = []
        for (const text of ['a', 'b', 'c', 'd']) hidden.push(await add(text))
        const bulk = { ids: hidden, patch: { approved: false } }
        await send(api, 'POST', `/collections/${given.id}/items/bulk`, { ...owner, body: bulk })
        await shows('waiting', ['a', 'b'])
        await page.getByRole('button', { name: 'More waiting' }).click()
        await shows('waiting', ['a', 'b', 'c', 'd'])
        await page.getByRole('button', { name: 'Approve', exact: true }).click()
        await shows('waiting', ['b', 'c', 'd'])
        await page.getByRole('button', { name: 'Delete' }).click()
        await shows('waiting', ['c', 'd'])
        await page.getByRole('button', { name: 'Approve all' }).click()
        await shows('waiting', [])
        await shows('items', ['d', 'c', 'a', 'four', 'three', 'two', 'one'])
        await send(api, 'POST', `/collections/${given.id}/items/bulk`, {
          ...owner,
          body: { ids: hidden.filter((one) => one !== hidden[1]), delete: true },
        })
        await shows('items', ['four', 'three', 'two', 'one'])

        await page.locator('#room[data-status=ready]').waitFor()
        await page.getByRole('button', { name: 'Say' }).click()
        await shows('room', ['Said in the page'])
        await openRoom({ spaceUrl: given.spaceUrl, room: given.room, mk: given.mk }).say('And elsewhere')
        await shows('room', ['Said in the page', 'And elsewhere'])

        await page.getByRole('button', { name: 'Oldest' }).click()
        await shows('items', ['one', 'two', 'three'])
        // The page is not full of what follows: four comes with the next one.
        await add('six')
        await page.getByRole('button', { name: 'More' }).click()
        await shows('items', ['one', 'two', 'three', 'four', 'six'])
        await page.getByRole('button', { name: 'Toggle' }).click()
        await page.locator('#items').waitFor({ state: 'detached' })
        await page.getByRole('button', { name: 'Toggle' }).click()
        await shows('items', ['one', 'two', 'three'])
        assert.deepEqual(problems, [])
      } finally {
        await close()
      }
      const closed = async () => [...api.ctx.streams.connections()].length === 0
      for (const deadline = Date.now() + 20_000; !(await closed()); await new Promise((resolve) => setTimeout(resolve, 25)))
        assert.ok(Date.now() < deadline, 'the streams are closed')
    })
  }

  test('what changes while a further page is read is in the list as it is then, and not as the page has it', async () => {
    const { given, owner, add } = await make()
    const ids: string[] = []
    for (const text of ['zero', 'one', 'two', 'three', 'four', 'five']) ids.push(await add(text))
    const archive = (at: number, archived: boolean) =>
      send(api, 'PATCH', `/collections/${given.id}/items/${ids[at]}`, { ...owner, body: { archived } })
    await archive(1, true)
    const { page, problems, start, close } = await openApp(given)
    try {
      const [read, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      await page.route(/\/items\/open\?.*cursor=/, async (route) => {
        const response = await route.fetch()
        read.resolve()
        await released.promise
        await route.fulfill({ response })
      })
      await start()
      await until(page, '#items li', ['five', 'four', 'three'])
      await add('six')
      // The stream is open.
      await until(page, '#items li', ['six', 'five', 'four', 'three'])
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await read.promise
      await archive(2, true)
      await archive(1, false)
      // The last item of the page, which no further page would bring.
      await send(api, 'PATCH', `/collections/${given.id}/items/${ids[0]}`, { ...owner, body: { hero: true } })
      await add('seven')
      await until(page, '#items li', ['seven', 'six', 'five', 'four', 'three'])
      released.resolve()
      await until(page, '#items li', ['seven', 'six', 'five', 'four', 'three', 'one', 'zero'])
      assert.deepEqual(problems, [])
    } finally {
      await close()
    }
  })

  test('a list and a collection that cannot be read again for a while stay live', async () => {
    const { given, owner, add } = await make()
    await add('one')
    const { page, start, close } = await openApp(given)
    try {
      let isDown = false
      const connected = Promise.withResolvers<void>()
      await page.route(/\/stream$/, async (route) => {
        await connected.promise
        await route.continue()
      })
      await page.route(/\/collections\/[^/]+(?:\/items\/open\?.*)?$/, (route) =>
        isDown
          ? route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'It restarts.' } } })
          : route.continue(),
      )
      await start()
      await until(page, '#items li', ['one'])
      await page.locator('h1', { hasText: 'Lantern night' }).waitFor()
      // No stream says it, only the list that is read when the stream has begun.
      await add('two')
      isDown = true
      connected.resolve()
      await page.locator('#items[data-status=failed]').waitFor()
      await page.locator('h1[data-status=failed]', { hasText: 'Lantern night' }).waitFor()
      await add('three')
      await until(page, '#items li', ['three', 'one'])
      isDown = false
      await page.locator('#items[data-status=ready]').waitFor()
      await until(page, '#items li', ['three', 'two', 'one'])
      await send(api, 'PATCH', `/collections/${given.id}`, { ...owner, body: { metadata: { share_title: 'Harbour' } } })
      await page.locator('h1[data-status=ready]', { hasText: 'Harbour' }).waitFor()
    } finally {
      await close()
    }
  })

  test('a failure is reported, and data that arrived before stays', async () => {
    const { given } = await make()
    const broken = createClient({ baseUrl: api.origin, key: 'wpk_wrong' })
    const states: string[] = []
    const { watchedStore } = await import('./watched-store.ts')
    const store = watchedStore(
      { status: 'loading', value: 0 },
      async (set, signal) => {
        set((state) => ({ ...state, value: 1 }))
        await broken.getCollection({ id: given.id, signal })
      },
      (state, error) => ({ ...state, status: (error as { code: string }).code }),
    )
    const stop = store.subscribe(() => states.push(`${store.getState().status} ${store.getState().value}`))
    for (const deadline = Date.now() + 20_000; states.length < 2; await new Promise((resolve) => setTimeout(resolve, 10)))
      assert.ok(Date.now() < deadline)
    stop()
    assert.deepEqual(states, ['loading 1', 'unauthorized 1'])
  })

  test('on a server the hooks render as loading, and ask for nothing', () => {
    let asked = 0
    const fetch = () => {
      asked++
      return Promise.reject(new Error('asked'))
    }
    const client = createClient({ baseUrl: 'http://api.invalid', key: 'wpk_x', fetch })
    const room = openRoom({ spaceUrl: 'http://api.invalid/space', ...fresh(), fetch })
    const App = () => {
      const states = [
        useItems(client, { id: 'col_1' }),
        useCollection(client, { id: 'col_1' }),
        useRoom(room),
        useOwnerItems(client, { id: 'col_1', collectionToken: 'cat_1' }),
      ]
      return createElement('p', null, states.map(({ status }) => status).join(' '))
    }
    assert.equal(renderToString(createElement(App)), '<p>loading loading loading loading</p>')
    assert.equal(asked, 0)
  })
})

async function until(page: Page, selector: string, texts: string[]): Promise<void> {
  const deadline = Date.now() + 20_000
  for (;;) {
    const found = await page.locator(selector).allInnerTexts()
    if (JSON.stringify(found) === JSON.stringify(texts)) return
    if (Date.now() > deadline) assert.deepEqual(found, texts)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
