import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { errorCodesOf } from '@atrium/contract/error-codes'
import { errors } from '@atrium/contract/errors'
import type { Operation } from '@atrium/contract/operation'
import { operations } from '@atrium/contract/table'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ publicUrl: 'https://api.example', spacesUrl: 'https://rooms.example' })
})
after(() => api.close())

const get = (path: string, headers: Record<string, string> = {}) => fetch(api.origin + path, { headers })

test('each error code has its page', async () => {
  for (const code of Object.keys(errors)) {
    const res = await get(`/docs/errors/${code}`)
    assert.equal(res.status, 200, code)
    assert.match(await res.text(), new RegExp(`<h1[^>]*><code>${code}</code>`))
  }
  assert.equal((await get('/docs/errors/constructor')).status, 404)
  assert.equal((await get('/docs/errors/README')).status, 404)
})

test('a page names its own address, and a page that is missing names none', async () => {
  for (const path of ['/docs', '/docs/guides/keys', '/docs/errors/not_found', '/downloads']) {
    const html = await (await get(`${path}?from=mail`)).text()
    assert.equal(/<link rel="canonical" href="([^"]*)">/.exec(html)?.[1], path)
  }
  const missing = await (await get('/docs/nothing', { accept: 'text/html' })).text()
  assert.ok(!missing.includes('canonical'))
})

test('the icon has the colour of the brand', async () => {
  assert.match(await (await get('/favicon.ico')).text(), /stroke="#c1552f"/)
})

test('the examples bear the addresses of this installation', async () => {
  const html = await (await get('/docs/guides/quickstart')).text()
  assert.ok(html.includes('ATRIUM=https://api.example/v1'))
  assert.ok(!html.includes('localhost'))
})

test('pages and files allow nothing from elsewhere, and are told apart by their ETag', async () => {
  for (const path of [
    '/docs',
    '/docs/api/items',
    '/docs/api/objects',
    '/docs/guides/keys',
    '/docs/errors',
    '/docs/assets/docs.js',
    '/docs/assets/search.json',
  ]) {
    const first = await get(path)
    assert.equal(first.status, 200, path)
    const etag = first.headers.get('etag')!
    assert.equal((await get(path, { 'if-none-match': `"x", ${etag}` })).status, 304, path)
    assert.equal((await get(path, { 'if-none-match': '"x"' })).status, 200, path)
    if (!first.headers.get('content-type')!.startsWith('text/html')) continue
    const policy = first.headers.get('content-security-policy')!
    assert.match(policy, /^default-src 'none'; .*frame-ancestors 'none'; require-trusted-types-for 'script'$/)
    const [before = '', style = '', after = ''] = (await first.text()).split(/<\/?style>/)
    assert.ok(policy.includes(` style-src 'sha256-${hash('sha256', style, 'base64')}';`), path)
    assert.doesNotMatch(before + after, /<script(?! type="module" src="\/docs\/)|style=|<style|\son\w+=/)
  }
})

test('each page of the menu is marked in it, and so is its place in the header', async () => {
  const menu = /<nav id="menu"[^]*?<\/nav>/.exec(await (await get('/docs/guides/keys')).text())?.[0] ?? ''
  const paths = [...menu.matchAll(/<li><a href="(\/docs\/[^"]*)"/g)].map(([, path = '']) => path)
  for (const path of ['/docs/guides/quickstart', '/docs/operating', '/docs/operating/backup', '/docs/scaling'])
    assert.ok(paths.includes(path), path)
  for (const path of paths) {
    const html = await (await get(path)).text()
    const header = /<header>[^]*?<\/header>/.exec(html)?.[0] ?? ''
    assert.deepEqual(header.match(/[^<>]* aria-current="true"/g), ['a href="/docs/guides" aria-current="true"'], path)
    assert.ok(html.includes(`<a href="${path}" aria-current="page">`), path)
  }
})

test('programs find the sections of all guides, each at the address of its page and with its code whole', async () => {
  const sections = (await (await get('/docs/sections.json')).json()) as { path: string; title: string; text: string }[]
  for (const path of new Set(sections.map((section) => section.path))) assert.equal((await get(path)).status, 200, path)
  const relay = sections.filter(({ path }) => path === '/docs/turn').map(({ title }) => title)
  assert.deepEqual(relay.slice(0, 3), ['Relays', 'Relays: coturn', 'Relays: Atrium'])
  const coturn = sections.find(({ title }) => title === 'Relays: coturn')
  assert.match(coturn?.text ?? '', /^```conf\n[^]*^# Limits: [^]*^```$/m)
})

test('what is sent packed is the same, and who cannot unpack gets it plain', async () => {
  const packed = await get('/docs/assets/search.json', { 'accept-encoding': 'gzip' })
  const plain = await get('/docs/assets/search.json', { 'accept-encoding': 'identity' })
  const refused = await get('/docs/assets/search.json', { 'accept-encoding': 'gzip;q=0' })
  assert.deepEqual(
    [packed, plain, refused].map((res) => res.headers.get('content-encoding')),
    ['gzip', null, null],
  )
  assert.ok(Number(packed.headers.get('content-length')) < 30_000)
  assert.equal(packed.headers.get('vary'), 'accept-encoding')
  assert.ok((await packed.text()) === (await plain.text()))
})

test('the root answers people with a page and programs with the index, which names the documentation', async () => {
  const page = await get('/', { accept: 'text/html,*/*' })
  assert.match(page.headers.get('content-type')!, /^text\/html/)
  assert.match(await page.text(), /href="\/docs"/)
  const index = await get('/', { accept: '*/*' })
  assert.match(page.headers.get('vary')!, /^accept, /)
  const { docs } = (await index.json()) as { docs: Record<string, string> }
  assert.deepEqual(docs, {
    reference: 'https://api.example/docs',
    guides: 'https://api.example/docs/guides',
    errors: 'https://api.example/docs/errors',
  })
  for (const url of Object.values(docs)) assert.equal((await get(new URL(url).pathname)).status, 200, url)
})

test('an address without a page is a page for people, with ways on, and an error for programs', async () => {
  const res = await get('/docs/guides/quickstrat', { accept: 'text/html,*/*;q=0.8' })
  assert.deepEqual([res.status, res.headers.get('vary')], [404, 'accept, accept-encoding'])
  assert.match(res.headers.get('content-security-policy')!, /^default-src 'none'; /)
  const html = await res.text()
  assert.match(html, /<h1>There is no such page<\/h1>/)
  assert.match(html, /href="\/docs\/guides\/quickstart"/)
  const error = await get('/docs/guides/quickstrat', { accept: '*/*' })
  assert.equal(error.status, 404)
  assert.equal(((await error.json()) as { error: { code: string } }).error.code, 'not_found')
})

test('each page begins with a description of its own, for searches and for previews of its link', async () => {
  const seen = new Map<string, string>()
  for (const path of [
    '/',
    '/docs',
    '/docs/api/items',
    '/docs/guides/quickstart',
    '/docs/guides/keys',
    '/docs/errors/not_found',
    '/docs/verification',
  ]) {
    const html = await (await get(path, { accept: 'text/html' })).text()
    const [, text = ''] = /<meta name="description" content="([^"<>]*)">/.exec(html) ?? []
    assert.ok(text.length > 40 && text.length <= 210, `${path}: ${text}`)
    assert.ok(html.includes(`<meta property="og:description" content="${text}">`), path)
    assert.equal(seen.get(text), undefined, path)
    seen.set(text, path)
  }
})

test('the preview of a link has a picture', async () => {
  for (const path of ['/', '/docs', '/docs/guides/quickstart', '/docs/errors/not_found', '/downloads']) {
    const html = await (await get(path, { accept: 'text/html' })).text()
    const [, address = ''] = /<meta property="og:image" content="https:\/\/api\.example(\/[^"]*)">/.exec(html) ?? []
    const picture = await get(address)
    assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png'], `${path} ${address}`)
    const bytes = Buffer.from(await picture.arrayBuffer())
    const size = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
    assert.ok(html.includes(`<meta property="og:image:width" content="${size[0]}">`), path)
    assert.ok(html.includes(`<meta property="og:image:height" content="${size[1]}">`), path)
  }
})

test('nothing else of the disk is served', async () => {
  for (const path of [
    '/docs/assets/tokens.css',
    '/docs/assets/../docs.css',
    '/docs/decisions/0001-one-table',
    '/docs/guides/keys.md',
    '/docs/',
  ])
    assert.equal((await get(path)).status, 404, path)
})

test('every operation is in the reference, under the address that the search and the index give', async () => {
  const index = await (await get('/docs')).text()
  const found = (await (await get('/docs/assets/search.json')).json()) as [string, string, string, string][]
  const pages = new Map<string, string>()
  for (const op of Object.values<Operation>(operations)) {
    const path = `/docs/api/${op.tag.toLowerCase().replaceAll(' ', '-')}`
    if (!pages.has(path)) pages.set(path, await (await get(path)).text())
    assert.ok(pages.get(path)!.includes(`id="${op.id}"`), op.id)
    assert.ok(index.includes(`href="${path}#${op.id}"`), op.id)
    assert.ok(found.some(([kind, title, to]) => kind === 'operation' && title === op.summary && to === `${path}#${op.id}`))
    for (const code of errorCodesOf(op))
      assert.ok(op.flatErrors || pages.get(path)!.includes(`href="/docs/errors/${code}"`), `${op.id} ${code}`)
  }
  for (const [, title, to] of found) assert.equal((await get(to.split('#')[0]!)).status, 200, title)
})

test('the reference names a session, and no key, where only the console may call', async () => {
  const sections = (await (await get('/docs/api/tenants')).text()).split('<section class="operation"')
  const of = (id: string) => sections.find((section) => section.startsWith(` id="${id}"`)) ?? ''
  assert.match(of('exportOwnTenant'), /Who may call.{0,20}A session of the console, with the role owner\. No key may call it\./)
  assert.match(of('exportOwnTenant'), /with a key, the call is refused/)
  assert.match(of('getTenant'), /Who may call.{0,20}A secret key/)
})

test('the addresses of the previous reference lead to this one', async () => {
  const res = await fetch(`${api.origin}/docs/full`, { redirect: 'manual' })
  assert.equal(res.status, 308)
  assert.equal(res.headers.get('location'), '/docs')
})

test('only a development server puts its publishable key into the examples', async () => {
  const { publishableKey } = await api.makeTenant()
  for (const nodeEnv of ['development', 'production']) {
    const other = await startTestApi({ nodeEnv, spacePublishableKey: publishableKey })
    for (const path of ['/', '/docs/api/items', '/docs/guides/quickstart']) {
      const html = await (await fetch(other.origin + path, { headers: { accept: 'text/html' } })).text()
      assert.equal(html.includes(publishableKey), nodeEnv === 'development', `${nodeEnv} ${path}`)
    }
    await other.close()
  }
})

test('every guide has its place in the menu', async () => {
  const files = readdirSync(new URL('../../../../../docs/guides/', import.meta.url))
  for (const name of files)
    assert.equal((await get(`/docs/guides/${name.replace('.md', '')}`)).status, 200, `${name} is in read-docs.ts`)
})
