import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})
after(() => api.close())

async function make(own = tenant) {
  const key = own.publishableKey
  const { data } = (await send(api, 'POST', '/collections', { key, body: {} })).body
  const owner = { key, collectionToken: data.admin_token as string }
  const path = `/collections/${data.id}`
  const add = async (content: unknown, more: object = {}) =>
    (await send(api, 'POST', `${path}/items`, { key, body: { type: 'message', content, ...more } })).body.data.id as string
  const read = async (query = '') => linesOf((await send(api, 'GET', `${path}/export${query}`, owner)).text)
  return { id: data.id as string, path, owner, add, read }
}

function linesOf(text: string) {
  assert.ok(text.endsWith('\n'))
  // What a line has is asserted, not typed.
  // oxlint-disable-next-line typescript/no-explicit-any
  return text
    .slice(0, -1)
    .split('\n')
    .map((line): any => JSON.parse(line))
}

/** Adds items by the database: through HTTP so many would take long. */
async function fill(collectionId: string, count: number, bytes: number) {
  await api.ctx.db.pool.query(
    `insert into items (tenant_id, collection_id, id, seq, type, content)
     select $1, $2, 'itm_' || lpad(n::text, 22, '0'), n, 'message', to_json(lpad(n::text, $4, 'x')) from generate_series(1, $3::int) n`,
    [tenant.id, collectionId, count, bytes],
  )
}

/** Begins an export and reads nothing of its body. */
async function begin({ path, owner }: { path: string; owner: { key: string; collectionToken: string } }) {
  const headers = { authorization: `Bearer ${owner.key}`, 'x-collection-token': owner.collectionToken }
  const res = await new Promise<IncomingMessage>((resolve, reject) =>
    get(`${api.baseUrl}${path}/export`, { headers, agent: false }, resolve).once('error', reject),
  )
  const rest = async () => {
    let text = ''
    try {
      for await (const chunk of res.setEncoding('utf8')) text += chunk as string
      return text
    } catch {
      return `${text}CUT`
    }
  }
  return { status: res.statusCode, res, rest }
}

test('an export has a first line, every item as the list shows it, oldest first, and a last line', async () => {
  const { id, path, owner, add, read } = await make()
  const contents = [{ text: 'Grüße\n\u2028🌍' }, null, 'x'.repeat(60_000), ...Array.from({ length: 40 }, (_, n) => n)]
  for (const content of contents) await add(content)
  const [head, ...rest] = await read()
  const { exported_at, ...fixed } = head
  assert.deepEqual(fixed, { format: 'atrium.items', version: 1, collection_id: id, filters: {} })
  assert.ok(Math.abs(Date.parse(exported_at) - Date.now()) < 60_000)
  const listed = (await send(api, 'GET', `${path}/items?limit=200`, owner)).body.data.items
  assert.deepEqual(rest, [...listed, { end: true, items: contents.length }])

  const got = await send(api, 'GET', `${path}/export`, owner)
  assert.equal(got.headers.get('content-type'), 'application/x-ndjson')
  assert.equal(got.headers.get('cache-control'), 'no-store')
  assert.equal(got.headers.get('content-disposition'), `attachment; filename="${id}.ndjson"`)
  const headOnly = await send(api, 'HEAD', `${path}/export`, owner)
  assert.deepEqual([headOnly.status, headOnly.text], [200, ''])
})

test('an empty collection has two lines, and filters are those of the list', async () => {
  const { add, read } = await make()
  assert.deepEqual((await read()).slice(1), [{ end: true, items: 0 }])
  await add('one', { type: 'photo', author: 'Ada' })
  await add('two')
  await add('three', { author: 'Ada' })
  const contents = async (query: string) => {
    const [, ...lines] = await read(query)
    assert.deepEqual(lines.pop(), { end: true, items: lines.length })
    return lines.map(({ content }) => content)
  }
  assert.deepEqual(await contents('?author=Ada'), ['one', 'three'])
  assert.deepEqual(await contents('?type=photo&author=Ada'), ['one'])
  assert.deepEqual(await contents('?q=T&approved=true'), ['two', 'three'])
  assert.deepEqual(await contents('?hero=true'), [])
  assert.deepEqual(await contents('?from=2001-01-01T00:00:00Z'), ['one', 'two', 'three'])
  assert.deepEqual(await contents('?to=2001-01-01T00:00:00Z'), [])
  assert.deepEqual((await read('?type=photo'))[0].filters, { type: 'photo' })
})

test('pages of any size leave out nothing, and what is added meanwhile is not in the export', async (t) => {
  const made = await make()
  await fill(made.id, 3_000, 5_000)
  const slow = await begin(made)
  t.after(() => slow.res.destroy())
  await api.ctx.db.pool.query(
    `insert into items (tenant_id, collection_id, id, seq, type, content)
     values ($1, $2, 'itm_9999999999999999999999', 3001, 'message', '"late"')`,
    [tenant.id, made.id],
  )
  const lines = linesOf(await slow.rest())
  assert.deepEqual(lines.pop(), { end: true, items: 3_000 })
  assert.deepEqual(
    lines.slice(1).map(({ content }) => Number(content.replace(/^x+/, ''))),
    Array.from({ length: 3_000 }, (_, n) => n + 1),
  )
  assert.equal((await made.read('?type=message')).at(-1).items, 3_001)
})

test('an export whose filters leave out very many items is not silent, and its lines stay JSON', async () => {
  const made = await make()
  // More than one page reads.
  await fill(made.id, 60_000, 5)
  const { text } = await send(api, 'GET', `${made.path}/export?type=none`, made.owner)
  assert.match(text, /^\{.+\}\n \{"end":true,"items":0\}\n$/)
  assert.deepEqual(linesOf(text).at(-1), { end: true, items: 0 })
})

test('an export that is not read holds no connection, and too many at once are refused', async (t) => {
  const made = await make()
  await fill(made.id, 1_500, 10_000)
  const slow = await Promise.all(Array.from({ length: 5 }, () => begin(made)))
  t.after(() => slow.forEach(({ res }) => res.destroy()))
  assert.deepEqual(
    slow.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  )
  const { pool } = api.ctx.db
  const busy = () => pool.totalCount - pool.idleCount
  for (let tries = 0; busy() > 0 && tries < 50; tries++) await new Promise((resolve) => setTimeout(resolve, 100))
  assert.equal(busy(), 0)
  const refused = await send(api, 'GET', `${made.path}/export`, made.owner)
  assert.deepEqual([refused.status, refused.body.error.code], [429, 'rate_limited'])
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  const other = await api.makeTenant()
  const others = await make(other)
  assert.deepEqual((await others.read()).at(-1), { end: true, items: 0 })
  slow.pop()!.res.destroy()
  assert.equal((await made.read()).at(-1).items, 1_500)
})

for (const [what, end] of [
  [
    'its owner token is replaced',
    ({ path }) => send(api, 'POST', `${path}/tokens`, { key: tenant.secretKey, body: { rotate: ['admin_token'] } }),
  ],
  ['its collection is deleted', ({ path, owner }) => send(api, 'DELETE', path, owner)],
] as [string, (made: Awaited<ReturnType<typeof make>>) => Promise<unknown>][]) {
  test(`an export ends without its last line when ${what}`, async (t) => {
    const made = await make()
    await fill(made.id, 3_000, 10_000)
    const slow = await begin(made)
    t.after(() => slow.res.destroy())
    await end(made)
    // Longer than the export goes on without a look.
    await new Promise((resolve) => setTimeout(resolve, 2_600))
    const text = await slow.rest()
    assert.ok(text.endsWith('CUT') && !text.includes('"end":true'), text.slice(-100))
    assert.ok(text.length < 20_000_000)
  })
}

test('nobody but the owner exports', async () => {
  const [made, other] = [await make(), await make()]
  const foreign = await api.makeTenant()
  const code = async (options: object, query = '') =>
    (await send(api, 'GET', `${made.path}/export${query}`, options)).body.error.code as string
  assert.equal(await code({ key: made.owner.key }), 'owner_token_required')
  assert.equal(await code({ key: tenant.secretKey }), 'owner_token_required')
  assert.equal(await code(other.owner), 'owner_token_required')
  assert.equal(await code({ ...made.owner, key: foreign.publishableKey }), 'not_found')
  for (const query of ['?limit=1', '?order=newest', '?from=yesterday', '?q=', '?hero=1'])
    assert.equal(await code(made.owner, query), 'invalid_request', query)
})
