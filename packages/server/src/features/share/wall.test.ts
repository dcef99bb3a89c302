import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { StoredWorld } from '#testing/artifacts/stored-world.ts'
import { send } from '#testing/http.ts'
import { openStream } from '#testing/read-stream.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
let tenant: TestTenant
let key: string
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
  key = tenant.publishableKey
})
after(() => api.close())

async function make(body: object = {}) {
  const { data } = (await send(api, 'POST', '/collections', { key, body: { item_access: 'open', wall: true, ...body } })).body
  return { id: data.id as string, owner: { key, collectionToken: data.admin_token as string } }
}
const add = async (id: string, content: unknown, more: object = {}) =>
  (await send(api, 'POST', `/collections/${id}/items`, { key, body: { type: 'message', content, ...more } })).body.data
    .id as string
const wall = (id: string, query = '', headers: Record<string, string> = {}) =>
  fetch(`${api.baseUrl}/collections/${id}/wall${query}`, { headers })
const textsOf = (html: string) => [...html.matchAll(/<div class="text"><p[^>]*>([^<]*)/g)].map(([, text]) => text)
const cursorOf = (html: string) => /data-cursor="([^"]+)"/.exec(html)![1]!

test('the open items of a collection with a wall are a page for anyone, newest first', async () => {
  const { id, owner } = await make({ metadata: { share_title: 'Lantern night', share_description: 'Write.' } })
  await add(id, 'first', { author: 'Ada' })
  const hidden = await add(id, { text: 'hidden' })
  await send(api, 'PATCH', `/collections/${id}/items/${hidden}`, { ...owner, body: { access: 'owner' } })
  await add(id, { message: 'second', name: 'Grace' })
  const res = await wall(id)
  assert.equal(res.status, 200)
  const html = await res.text()
  assert.deepEqual(textsOf(html), ['second', 'first'])
  assert.match(html, /<h1[^>]*>Lantern night<\/h1>/)
  assert.match(html, /<span class="author"[^>]*>Grace<\/span>[^]*<span class="author"[^>]*>Ada<\/span>/)
  const policy = res.headers.get('content-security-policy')!
  assert.match(
    policy,
    /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; connect-src 'self'; img-src 'self'; /,
  )
  assert.match(policy, /frame-ancestors \*/)
  assert.doesNotMatch(policy, /unsafe/)
})

test('without a wall the answer is the 404 page of the share page', async () => {
  const { id, owner } = await make()
  assert.equal((await wall(id)).status, 200)
  await send(api, 'PATCH', `/collections/${id}`, { ...owner, body: { wall: false } })
  const pages = [await wall(id), await wall('col_0000000000000000000000'), await wall('x'.repeat(300)), await wall('%ff')]
  const unknown = await (await fetch(`${api.baseUrl}/collections/col_0000000000000000000000/render`)).text()
  for (const res of pages) {
    assert.deepEqual([res.status, res.headers.get('content-type')], [404, 'text/html; charset=utf-8'])
    assert.equal(await res.text(), unknown)
  }
})

test('pages and pictures of a suspended tenant are answered as unknown ones, until it is active again', async () => {
  const world = await StoredWorld.open(api)
  const place = await world.makeCollection({ wall_layout: 'book' })
  await send(api, 'PATCH', `/collections/${place.id}`, { ...place.owner, body: { wall: true } })
  const picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#a53' } })
    .png()
    .toBuffer()
  const artifactId = await world.publish(place, picture, 'image/png', 'image', { hero: true })
  const page = `${api.ctx.config.publicUrl}/v1/collections/${place.id}`
  const addresses = [
    `/collections/${place.id}/render`,
    `/collections/${place.id}/wall`,
    `/collections/${place.id}/wall?layout=stage`,
    `/media/${artifactId}`,
    `/media/${artifactId}?w=640`,
    ...['render', 'wall'].map((name) => `/oembed?url=${encodeURIComponent(`${page}/${name}`)}`),
  ]
  const answers = async (change = (address: string) => address) =>
    Promise.all(addresses.map(async (address) => (await fetch(api.baseUrl + change(address))).status))
  const bodies = (change = (address: string) => address) =>
    Promise.all(
      addresses.map(async (address) => (await (await fetch(api.baseUrl + change(address))).text()).replace(/req_\w+/, '')),
    )
  const set = (status: string) =>
    send(api, 'POST', `/tenants/${world.tenant.id}/status`, { headers: { 'x-admin-token': api.adminToken }, body: { status } })
  const unknown = (address: string) =>
    address.replace(place.id, 'col_0000000000000000000000').replace(artifactId, 'art_0000000000000000000000')
  assert.deepEqual(new Set(await answers()), new Set([200]))
  assert.equal((await set('suspended')).status, 200)
  assert.deepEqual(new Set(await answers()), new Set([404]))
  assert.deepEqual(await bodies(), await bodies(unknown))
  assert.equal((await set('active')).status, 200)
  assert.deepEqual(new Set(await answers()), new Set([200]))
})

test('an unchanged page is a 304, although its cursor differs each time', async () => {
  const { id } = await make()
  await add(id, 'one')
  const [first, second] = [await wall(id), await wall(id)]
  const etag = first.headers.get('etag')!
  assert.equal(second.headers.get('etag'), etag)
  assert.notEqual(cursorOf(await first.text()), cursorOf(await second.text()))
  assert.equal(first.headers.get('cache-control'), 'public, max-age=0, must-revalidate')
  assert.equal((await wall(id, '', { 'if-none-match': etag })).status, 304)
  await add(id, 'two')
  assert.equal((await wall(id, '', { 'if-none-match': etag })).status, 200)
})

test('the cursor in the page leads the stream on from what the page shows', async () => {
  const { id } = await make()
  await add(id, 'shown')
  const html = await (await wall(id)).text()
  await add(id, 'between')
  const stream = await openStream(api.baseUrl, `/collections/${id}/wall/stream`, { lastEventId: cursorOf(html) })
  const contents = () => stream.messages.map(({ data }) => data.content)
  while (!contents().includes('between')) await stream.untilCount(stream.messages.length + 1)
  await add(id, 'later')
  while (!contents().includes('later')) await stream.untilCount(stream.messages.length + 1)
  stream.close()
  // An item that the page shows may come again, where it had no number yet.
  assert.deepEqual(contents().slice(-2), ['between', 'later'])
})

test('pages follow each other without gap or repeat, and keep the layout', async () => {
  const { id } = await make()
  const all = Array.from({ length: 130 }, (_, n) => `${n}`)
  for (const text of all) await add(id, text)
  const seen: string[] = []
  let address: string | undefined = '?layout=book'
  for (let pages = 0; address !== undefined; pages++) {
    assert.ok(pages < 5)
    const html = await (await wall(id, address)).text()
    assert.match(html, /<body class="book"/)
    seen.push(...textsOf(html).map(String))
    address = /<a rel="next" href="wall([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
  }
  assert.deepEqual(seen, all.toReversed())
  const other = await make()
  const cursor = /cursor=([^"&]+)/.exec(await (await wall(id)).text())![1]!
  assert.equal((await wall(other.id, `?cursor=${cursor}`)).status, 400)
})

test('the layout comes from the address, or else from the metadata', async () => {
  const { id } = await make({ metadata: { wall_layout: 'stage' } })
  const classOf = async (query = '') => /<body class="(\w+)"/.exec(await (await wall(id, query)).text())?.[1]
  assert.deepEqual([await classOf(), await classOf('?layout=cards')], ['stage', 'cards'])
  assert.equal((await wall(id, '?layout=cascade')).status, 400)
  const unknown = await make({ metadata: { wall_layout: 'cascade' } })
  assert.match(await (await wall(unknown.id)).text(), /<body class="cards"/)
})

test('items of any shape show their text, or their simple fields', async () => {
  const { id } = await make()
  const shapes: [unknown, RegExp | undefined][] = [
    ['text', /<p[^>]*>text<\/p>/],
    [7, /<p[^>]*>7<\/p>/],
    [{ title: 'Toast', body: 'To us' }, /<h2[^>]*>Toast<\/h2><div class="text"><p[^>]*>To us</],
    [
      { choice: 'Soup', vegan: true, email: 'a@example.org' },
      /<dt[^>]*>choice<\/dt><dd[^>]*>Soup<\/dd>.*<dd[^>]*>yes<\/dd>(?!.*example\.org)/,
    ],
    [{ emoji: '🌊' }, /<p class="emoji">🌊<\/p>/],
    [['a', 'b'], /<p[^>]*>a<br>b<\/p>/],
    [{ text: 'a\n\nb' }, /<p[^>]*>a<\/p><p[^>]*>b<\/p>/],
    [null, undefined],
    [{ nested: { text: 'x' } }, undefined],
    [{ text: '\u202e \u200b' }, undefined],
  ]
  const ids: string[] = []
  for (const [content] of shapes) ids.push(await add(id, content))
  const html = await (await wall(id)).text()
  for (const [index, [content, form]] of shapes.entries()) {
    const shown = new RegExp(`<li id="${ids[index]}".*</li>`).exec(html)?.[0]
    if (form) assert.match(shown ?? '', form, JSON.stringify(content))
    else assert.equal(shown, undefined, JSON.stringify(content))
  }
})

test('long items make a page of bounded size', async () => {
  const { id } = await make()
  for (let n = 0; n < 62; n++) await add(id, { text: `${n} ${'wide '.repeat(12_000)}` })
  const html = await (await wall(id)).text()
  assert.ok(html.length < 200_000, `${html.length}`)
  assert.match(html, /<a rel="next"/)
})

test('oEmbed of a wall is a frame that may run its script', async () => {
  const { id, owner } = await make({ metadata: { share_title: 'A <b>' } })
  const { publicUrl } = api.ctx.config
  const ask = (address: string) => fetch(`${api.baseUrl}/oembed?url=${encodeURIComponent(address)}&maxwidth=500`)
  const page = `${publicUrl}/v1/collections/${id}/wall`
  const answer = (await (await ask(`${page}?layout=book`)).json()) as { type: string; html: string; width: number }
  assert.deepEqual([answer.type, answer.width], ['rich', 500])
  assert.match(answer.html, /src="[^"]*\/wall\?layout=book" title="A &lt;b&gt;".* sandbox="[^"]*allow-scripts allow-same-origin"/)
  await send(api, 'PATCH', `/collections/${id}`, { ...owner, body: { wall: false } })
  assert.equal((await ask(page)).status, 404)
})

test('unknown parameters in the link of a wall or of oEmbed are ignored', async () => {
  const { id } = await make({ metadata: { share_title: 'Lantern night' } })
  const shared = await wall(id, '?layout=book&fbclid=IwAR0&utm_source=mail')
  assert.equal(shared.status, 200)
  assert.match(await shared.text(), /<body class="book"/)
  const page = `${api.ctx.config.publicUrl}/v1/collections/${id}/wall`
  assert.equal((await fetch(`${api.baseUrl}/oembed?url=${encodeURIComponent(page)}&dnt=true`)).status, 200)
})

test('for an error, a browser gets a page with a link to continue, and a program gets JSON', async () => {
  const reader = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const { id } = await make({ metadata: { share_title: 'Lantern night' } })
  const old = await wall(id, '?cursor=old', reader)
  assert.equal(old.status, 400)
  assert.equal(old.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(await old.text(), /<a href="wall">Open the page<\/a>/)
  assert.match((await wall(id, '?cursor=old')).headers.get('content-type')!, /^application\/json/)

  const slow = await startTestApi({ rateLimit: '0.1' })
  try {
    const visit = (headers: Record<string, string>) => fetch(`${slow.baseUrl}/collections/${id}/render`, { headers })
    // At once, because requests become free again while a busy machine answers.
    const refused = async (headers: Record<string, string>) => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => visit(headers)))
      const refusal = answers.find(({ status }) => status === 429)
      assert.ok(refusal)
      return refusal
    }
    const busy = await refused(reader)
    assert.match(busy.headers.get('retry-after')!, /^\d+$/)
    assert.equal(busy.headers.get('cache-control'), 'no-store')
    assert.match(busy.headers.get('content-security-policy')!, /default-src 'none'/)
    assert.match(await busy.text(), /<h1>This page cannot be shown right now<\/h1>.*<a href="">Try again<\/a>/s)
    assert.match(await (await refused({})).text(), /"code":"rate_limited"/)
  } finally {
    await slow.close()
  }
})

test('an item shows the picture that it names, if it is of the same collection and open to all', async () => {
  const stored = await StoredWorld.open(api)
  const [place, elsewhere] = [await stored.makeCollection(), await stored.makeCollection()]
  const bytes = await sharp({ create: { width: 40, height: 20, channels: 3, background: '#c0567a' } })
    .png()
    .toBuffer()
  const publish = (where: typeof place, flags: object) => stored.publish(where, bytes, 'image/png', 'image', flags)
  const shown = await publish(place, {})
  const others = [
    await publish(place, { access: 'owner' }),
    await publish(place, { published: false }),
    await publish(elsewhere, {}),
    'art_0000000000000000000000',
  ]
  await send(api, 'PATCH', `/collections/${place.id}`, { ...place.owner, body: { item_access: 'open', wall: true } })
  const key = place.owner.key
  const tell = (id: string) =>
    send(api, 'POST', `/collections/${place.id}/items`, {
      key,
      body: { type: 'photo', content: { text: 'Look', artifact_id: id } },
    })
  for (const id of [shown, ...others]) assert.equal((await tell(id)).status, 201)
  const html = await (await wall(place.id)).text()
  const pictures = [...html.matchAll(/<img [^>]*>/g)].map(([tag]) => tag)
  assert.equal(pictures.length, 1)
  assert.match(pictures[0]!, new RegExp(`src="/v1/media/${shown}\\?w=640".*width="40" height="20"`))
  assert.equal(textsOf(html).length, 5)
})
