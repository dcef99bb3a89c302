import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
let key: string
before(async () => {
  api = await startTestApi()
  key = (await api.makeTenant()).publishableKey
})
after(() => api.close())

async function make(metadata: object = {}) {
  const { data } = (await send(api, 'POST', '/collections', { key, body: { metadata } })).body
  return { id: data.id as string, owner: { key, collectionToken: data.admin_token as string } }
}
type Made = Awaited<ReturnType<typeof make>>
const add = (made: Made, body: object) => send(api, 'POST', `/collections/${made.id}/artifacts`, { ...made.owner, body })
const picture = { kind: 'image', url: 'https://pictures.example/a.webp', title: 'Night', alt: 'Lanterns' }
const curate = (made: Made, id: string, body: object) =>
  send(api, 'PATCH', `/collections/${made.id}/artifacts/${id}`, { ...made.owner, body })

test('a hosted artifact is ready at once and not published', async () => {
  const made = await make()
  const { id } = (await add(made, picture)).body.data
  const own = await send(api, 'GET', `/collections/${made.id}/artifacts/${id}`, made.owner)
  const { created_at: createdAt, ...rest } = own.body.data
  assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(rest, {
    id,
    kind: 'image',
    source: 'url',
    url: picture.url,
    status: 'ready',
    stage: 'done',
    approved: true,
    published: false,
    hero: false,
    archived: false,
    access: 'open',
    title: 'Night',
    alt: 'Lanterns',
  })
  assert.equal((await send(api, 'GET', `/collections/${made.id}/artifacts/${id}`, { key })).status, 404)
})

test('a hosted artifact has an https address or one of this installation, and no other that names its origin', async () => {
  const made = await make()
  const { origin } = new URL(api.ctx.config.publicUrl)
  for (const url of [
    `blob:${origin}/x`,
    `blob:https://pictures.example/x`,
    'http://pictures.example/a.webp',
    'data:image/png,x',
  ]) {
    const { status, body } = await add(made, { ...picture, url })
    assert.deepEqual([status, body.error?.details], [400, [{ path: '/url', message: 'must be an https address' }]], url)
  }
  assert.equal((await add(made, { ...picture, url: `${origin}/a.webp` })).status, 201)
})

test('the owner changes title and alt of an artifact, and removes them with null', async () => {
  const made = await make()
  const { id } = (await add(made, picture)).body.data
  const texts = async () => {
    const { title, alt } = (await send(api, 'GET', `/collections/${made.id}/artifacts/${id}`, made.owner)).body.data
    return { title, alt }
  }
  const changed = await curate(made, id, { alt: 'A harbour with lanterns', published: true, hero: true })
  assert.equal(changed.body.data?.alt, 'A harbour with lanterns', JSON.stringify(changed.body))
  assert.deepEqual(await texts(), { title: 'Night', alt: 'A harbour with lanterns' })
  const page = await send(api, 'GET', `/collections/${made.id}/render`)
  assert.match(page.text, /alt="A harbour with lanterns"/)
  await curate(made, id, { title: null })
  assert.deepEqual(await texts(), { title: undefined, alt: 'A harbour with lanterns' })
  for (const body of [{ title: '' }, { title: 'x'.repeat(201) }, { alt: 'x'.repeat(1_001) }])
    assert.equal((await curate(made, id, body)).body.error?.code, 'invalid_request')
})

test('other callers see what is published, approved and not archived; the owner sees all', async () => {
  const made = await make()
  const ids: string[] = []
  for (let i = 0; i < 4; i++) ids.push((await add(made, picture)).body.data.id)
  await curate(made, ids[0]!, { published: true })
  await curate(made, ids[1]!, { published: true, archived: true })
  await curate(made, ids[2]!, { published: true, approved: false })
  const listed = async (more: object) =>
    (await send(api, 'GET', `/collections/${made.id}/artifacts`, { key, ...more })).body.data.map((a: any) => a.id)
  assert.deepEqual(await listed({}), [ids[0]])
  assert.deepEqual(await listed(made.owner), ids)
})

for (const url of [
  'http://pictures.example/a.webp',
  'javascript:alert(1)',
  'data:image/png;base64,AA',
  '//x/y',
  'nonsense',
  'https://u:p@x.example/',
  'ftp://x/y',
]) {
  test(`an artifact at ${url} is refused`, async () => {
    const refused = await add(await make(), { kind: 'image', url })
    assert.equal(refused.status, 400)
    assert.equal(refused.body.error.details[0].path, '/url')
  })
}

test('the share page shows a published hero, and never an unpublished one', async () => {
  const made = await make({ share_title: 'Lantern <night>', share_description: 'Come along' })
  const first = (await add(made, picture)).body.data.id
  const second = (await add(made, { ...picture, url: 'https://pictures.example/b.webp' })).body.data.id
  const page = () => send(api, 'GET', `/collections/${made.id}/render`)
  await curate(made, first, { hero: true })
  assert.equal((await page()).text.includes('pictures.example'), false)
  await curate(made, first, { published: true })
  assert.ok((await page()).text.includes('https://pictures.example/a.webp'))
  await curate(made, second, { published: true, hero: true })
  const { text, headers, status } = await page()
  assert.equal(status, 200)
  assert.ok(text.includes('b.webp') && !text.includes('a.webp'))
  assert.ok(text.includes('Lantern &lt;night&gt;') && !text.includes('<night>'))
  assert.match(headers.get('content-security-policy')!, /^default-src 'none'/)
})

test('without a hero picture, link previews show the newest public card', async () => {
  const made = await make()
  const preview = async () => {
    const { text } = await send(api, 'GET', `/collections/${made.id}/render`)
    return /<meta property="og:image" content="([^"]*)">/.exec(text)?.[1]
  }
  const [older, newer, hero] = ['https://pictures.example/older.png', 'https://pictures.example/newer.png', picture.url]
  const ids: Record<string, string> = {}
  for (const url of [older, newer]) ids[url] = (await add(made, { kind: 'card', url })).body.data.id
  ids[hero] = (await add(made, picture)).body.data.id
  await curate(made, ids[hero]!, { published: true })
  assert.equal(await preview(), undefined, 'a picture that is not the hero is none')
  await curate(made, ids[older]!, { published: true })
  assert.equal(await preview(), older, 'what is not published is shown to nobody')
  await curate(made, ids[newer]!, { published: true })
  assert.equal(await preview(), newer)
  for (const hidden of [{ archived: true }, { approved: false }]) {
    await curate(made, ids[newer]!, hidden)
    assert.equal(await preview(), older)
    await curate(made, ids[newer]!, { archived: false, approved: true })
  }
  await curate(made, ids[hero]!, { hero: true })
  assert.equal(await preview(), hero)
})

test('an unchanged share page is answered with 304, a changed one in full', async () => {
  const made = await make({ share_title: 'One' })
  const path = `/collections/${made.id}/render`
  const etag = (await send(api, 'GET', path)).headers.get('etag')!
  const unchanged = await send(api, 'GET', path, { headers: { 'if-none-match': `W/${etag}, "x"` } })
  assert.deepEqual([unchanged.status, unchanged.text], [304, ''])
  await send(api, 'PATCH', `/collections/${made.id}`, { ...made.owner, body: { metadata: { share_title: 'Two' } } })
  assert.equal((await send(api, 'GET', path, { headers: { 'if-none-match': etag } })).status, 200)
})

test('an address that cannot hold an id is answered with the same page as an unknown collection', async () => {
  const unknown = await send(api, 'GET', '/collections/col_4fRzK0vXcB1mQwErTy7uPa/render')
  assert.equal(unknown.status, 404)
  for (const id of ['x'.repeat(101), 'x'.repeat(2_000), '%zz', '%', '%e0%a4%a', 'col_ä', '%20', '..%20', '']) {
    for (const method of ['GET', 'HEAD']) {
      const got = await send(api, method, `/collections/${id}/render?utm=1`)
      assert.deepEqual([got.status, got.text], [404, method === 'GET' ? unknown.text : ''], `${method} ${id}`)
      for (const name of [
        'content-type',
        'content-security-policy',
        'cache-control',
        'x-content-type-options',
        'referrer-policy',
      ])
        assert.equal(got.headers.get(name), unknown.headers.get(name), `${name} of ${id}`)
      assert.match(got.headers.get('x-request-id') ?? '', /^req_/)
    }
  }
  const post = await send(api, 'POST', `/collections/${'x'.repeat(101)}/render`)
  assert.deepEqual([post.status, post.body.error.code], [400, 'invalid_request'], 'only what is opened is a page')
})

test('oEmbed describes share pages of this installation and of no other', async () => {
  const made = await make({ share_title: 'Embedded' })
  const page = `${api.ctx.config.publicUrl}/v1/collections/${made.id}/render`
  const embed = await send(api, 'GET', `/oembed?url=${encodeURIComponent(page)}`)
  assert.equal(embed.body.version, '1.0')
  assert.equal(embed.body.title, 'Embedded')
  for (const url of [`https://elsewhere.example/v1/collections/${made.id}/render`, 'nonsense', page.replace(made.id, 'col_0')]) {
    assert.equal((await send(api, 'GET', `/oembed?url=${encodeURIComponent(url)}`)).status, 404)
  }
})
