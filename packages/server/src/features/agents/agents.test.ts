import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { operations } from '@atrium/contract/table'
import { send, sendUntilServed, untilServed } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { findLaunchable } from './status.ts'
import { openToolSecrets, toolsWithSecrets } from './agent-secrets.ts'

const registration = {
  name: 'Lamplighter',
  description: 'Tells of lamps.',
  instructions: 'Be brief.',
  price_credits: 5,
  max_minutes: 30,
}
const tool = {
  name: 'find_lamp',
  description: 'Finds a lamp.',
  parameters: { type: 'object' },
  url: 'https://lamps.example/find',
}
const model = { provider: 'openai', id: 'gpt-5' }
const endpoint = 'https://agents.example/launch'

let api: TestApi
let root: { baseUrl: string }
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  root = { baseUrl: api.origin }
  tenant = await api.makeTenant()
})
after(() => api.close())

const register = (more: object = {}, by = tenant) =>
  send(root, 'POST', '/agents', { key: by.secretKey, body: { ...registration, ...more } })
const registered = async (more: object = {}, by = tenant) => {
  const { status, body, text } = await register(more, by)
  assert.equal(status, 201, text)
  return body.data
}
const patch = (id: string, body: object, by = tenant) => send(root, 'PATCH', `/agents/${id}`, { key: by.secretKey, body })
const read = async (id: string) => (await send(root, 'GET', `/agents/${id}`, { key: tenant.secretKey })).body.data
const setStatus = (id: string, status: string, by = tenant) =>
  send(root, 'PUT', `/agents/${id}/status`, { key: by.secretKey, body: { status } })
const secretsOf = async (id: string) => {
  await setStatus(id, 'private')
  const agent = await findLaunchable(api.ctx.db, tenant.id, id)
  return toolsWithSecrets(agent!.tools, openToolSecrets(api.ctx.vault, agent!)).map(({ secret }) => secret)
}

function assertInvalid(answer: Awaited<ReturnType<typeof send>>, path: string): void {
  assert.deepEqual([answer.status, answer.body.error?.code], [400, 'invalid_request'], answer.text)
  assert.equal(answer.body.error.details[0].path, path)
}

test('an agent with only the required fields is a draft without a model, an endpoint or tools', async () => {
  const agent = await registered()
  const { id, created_at, updated_at, ...rest } = agent
  assert.match(id, /^agt_/)
  assert.equal(created_at, updated_at)
  assert.deepEqual(rest, { ...registration, tools: [], avatar_url: null, status: 'draft' })
  assert.deepEqual(await read(id), agent)
})

test('every registered field is read back, except the secrets', async () => {
  const options = {
    model,
    greeting: 'Good evening.',
    avatar_url: 'https://pictures.example/a.png',
    tools: [
      { ...tool, secret: 's3cret' },
      { mcp: 'https://tools.example/mcp', secret: 's3cret' },
      { mcp: 'https://tools.example/other' },
    ],
  }
  const { id, created_at: _c, updated_at: _u, ...rest } = await registered(options)
  assert.deepEqual(rest, {
    ...registration,
    ...options,
    tools: [
      { ...tool, has_secret: true },
      { mcp: 'https://tools.example/mcp', has_secret: true },
      { mcp: 'https://tools.example/other', has_secret: false },
    ],
    status: 'draft',
  })
  assert.deepEqual(await secretsOf(id), ['s3cret', 's3cret', undefined])
})

test('a retried registration makes one agent', async () => {
  const by = await api.makeTenant()
  const options = { key: by.secretKey, idempotencyKey: 'one', body: registration }
  const answers = await Promise.all(Array.from({ length: 5 }, () => sendUntilServed(root, 'POST', '/agents', options)))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  assert.equal((await send(root, 'GET', '/agents', { key: by.secretKey })).body.data.length, 1)
})

test('an agent has a model or an endpoint, never both, also after a change', async () => {
  assertInvalid(await register({ model, endpoint }), '/endpoint')
  const { id } = await registered({ model })
  assertInvalid(await patch(id, { endpoint }), '/endpoint')
  const changed = await patch(id, { endpoint, model: null })
  assert.equal(changed.status, 200)
  assert.equal(changed.body.data.endpoint, endpoint)
  assert.equal('model' in changed.body.data, false)
  assertInvalid(await patch(id, { model }), '/endpoint')
})

test('a change affects only the fields sent, and null removes an optional field', async () => {
  const full = { model, greeting: 'Hello.', avatar_url: 'https://pictures.example/a.png', tools: [tool] }
  const before = await registered(full)
  const one = (await patch(before.id, { price_credits: 8 })).body.data
  assert.deepEqual(one, { ...before, price_credits: 8, updated_at: one.updated_at })
  assert.ok(one.updated_at >= before.updated_at)
  const { body } = await patch(before.id, { model: null, greeting: null, avatar_url: null, tools: [] })
  const { model: _m, greeting: _g, ...bare } = one
  assert.deepEqual(body.data, { ...bare, avatar_url: null, tools: [], updated_at: body.data.updated_at })
  assert.deepEqual(await read(before.id), body.data)
})

test('a required field cannot be removed, and an empty change is refused', async () => {
  const { id } = await registered()
  for (const field of Object.keys(registration)) assertInvalid(await patch(id, { [field]: null }), `/${field}`)
  assert.equal((await patch(id, {})).status, 400)
  assert.equal((await patch(id, { status: 'active' })).status, 400)
})

test('a secret with a control character is refused: no call of the tool could be sent', async () => {
  const mcp = 'https://tools.example/mcp'
  for (const secret of ['s3cret\n', 's3\r\ncret', 's3\0cret']) {
    for (const declared of [
      { ...tool, secret },
      { mcp, secret },
    ]) {
      const { status, body } = await register({ tools: [declared] })
      assert.deepEqual([status, body.error?.details?.[0]?.path], [400, '/tools/0/secret'])
    }
  }
})

test('a tool sent without a secret keeps the secret of its name or MCP address; null removes it; another name is another tool', async () => {
  const mcp = 'https://tools.example/mcp'
  const { id } = await registered({
    tools: [
      { ...tool, secret: 'one' },
      { mcp, secret: 'two' },
    ],
  })
  const change = async (tools: object[]) => (await patch(id, { tools })).body.data.tools
  await change([{ mcp }, { ...tool, url: 'https://lamps.example/other' }])
  assert.deepEqual(await secretsOf(id), ['two', 'one'])
  const shown = await change([
    { ...tool, secret: null },
    { mcp, secret: 'three' },
  ])
  assert.deepEqual(
    shown.map((one: { has_secret: boolean }) => one.has_secret),
    [false, true],
  )
  assert.deepEqual(await secretsOf(id), [undefined, 'three'])
  await change([{ ...tool, name: 'other' }, { mcp: 'https://tools.example/elsewhere' }])
  await change([tool, { mcp }])
  assert.deepEqual(await secretsOf(id), [undefined, undefined], 'what was gone for a while has lost its secret')
})

test('a secret stays with its origin: a tool that is pointed elsewhere loses it, and an earlier session never receives a new one', async () => {
  const at = (url: string, secret?: string) => ({ ...tool, url, ...(secret ? { secret } : {}) })
  const { id } = await registered({ tools: [at('https://one.example/a', 'for-one')] })
  const hasSecret = async (...tools: object[]) => (await patch(id, { tools })).body.data.tools[0].has_secret
  assert.equal(await hasSecret(at('https://one.example/b')), true)
  assert.deepEqual(await secretsOf(id), ['for-one'])
  const { tools: launched } = (await findLaunchable(api.ctx.db, tenant.id, id))!
  for (const url of ['https://one.example:8443/b', 'https://evil.example/b']) {
    assert.equal(await hasSecret(at('https://one.example/b', 'for-one')), true)
    assert.equal(await hasSecret(at(url)), false, url)
    assert.deepEqual(await secretsOf(id), [undefined])
    assert.equal(await hasSecret(at('https://one.example/b')), false, 'and does not get it back')
  }
  await patch(id, { tools: [at('https://two.example/a', 'for-two')] })
  const now = (await findLaunchable(api.ctx.db, tenant.id, id))!
  assert.deepEqual(await secretsOf(id), ['for-two'])
  const [asLaunched] = toolsWithSecrets(launched, openToolSecrets(api.ctx.vault, now))
  assert.deepEqual([asLaunched!.url, asLaunched!.secret], ['https://one.example/b', undefined])
})

test('secrets of tools are sealed to their agent: not readable in the table, and refused in another row', async () => {
  const secret = 'canary-5f2a9c'
  const one = await registered({ tools: [{ ...tool, secret }] })
  const two = await registered({ tools: [{ ...tool, secret: 'other' }] })
  const { rows } = await api.ctx.db.pool.query<{ row: string }>('select agents::text as row from agents where id = $1', [one.id])
  assert.ok(!rows[0]!.row.includes(secret) && !rows[0]!.row.includes(Buffer.from(secret).toString('hex')))
  assert.deepEqual(await secretsOf(one.id), [secret])
  const move = 'update agents set tool_secrets = (select tool_secrets from agents where id = $1) where id = $2'
  await api.ctx.db.pool.query(move, [one.id, two.id])
  await assert.rejects(secretsOf(two.id))
})

test('two tools of one name or one address are refused', async () => {
  const mcp = 'https://tools.example/mcp'
  assertInvalid(await register({ tools: [tool, { ...tool, url: 'https://b.example' }] }), '/tools/1')
  assertInvalid(await register({ tools: [{ mcp }, { mcp: 'https://TOOLS.example:443/mcp' }] }), '/tools/1')
})

test('a tool whose parameters are no JSON Schema is refused with the path', async () => {
  const withParameters = (parameters: object) => register({ tools: [tool, { ...tool, name: 'second', parameters }] })
  assertInvalid(await withParameters({ type: 'string' }), '/tools/1/parameters/type')
  assertInvalid(
    await withParameters({ type: 'object', properties: { a: { type: 'text' } } }),
    '/tools/1/parameters/properties/a/type',
  )
})

test('an address that this installation may not call is refused', async () => {
  const places: [string, (url: string) => object][] = [
    ['/endpoint', (endpoint) => ({ endpoint })],
    ['/avatar_url', (avatar_url) => ({ avatar_url })],
    ['/tools/0/url', (url) => ({ tools: [{ ...tool, url }] })],
    ['/tools/0/mcp', (mcp) => ({ tools: [{ mcp }] })],
  ]
  const wrong = [
    'http://agents.example/',
    'http://127.0.0.1:8080/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://localhost/',
    'https://user:pass@agents.example/',
    'https://',
  ]
  const { id } = await registered()
  for (const [path, put] of places) {
    for (const url of wrong) {
      assertInvalid(await register(put(url)), path)
      assertInvalid(await patch(id, put(url)), path)
    }
  }
  assert.equal((await registered({ endpoint: 'https://Agents.Example:443/a' })).endpoint, 'https://agents.example/a')
})

test("the list has the tenant's own agents of every status, the oldest first, in pages", async () => {
  const by = await api.makeTenant()
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push((await registered({ name: `Agent ${n}` }, by)).id)
  await setStatus(ids[1]!, 'active', by)
  await setStatus(ids[2]!, 'private', by)
  await registered()
  const pages: string[][] = []
  for (let cursor: string | undefined, first = true; first || cursor; first = false) {
    const query = `?limit=2${cursor ? `&cursor=${cursor}` : ''}`
    const { body } = await send(root, 'GET', `/agents${query}`, { key: by.secretKey })
    pages.push(body.data.map(({ id }: { id: string }) => id))
    cursor = body.meta.next_cursor
  }
  assert.deepEqual(pages, [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)])
})

test('a cursor of another tenant, or of the catalog, opens no list', async () => {
  await registered()
  await registered()
  const { body } = await send(root, 'GET', '/agents?limit=1', { key: tenant.secretKey })
  const other = await api.makeTenant()
  const stolen = await send(root, 'GET', `/agents?cursor=${body.meta.next_cursor}`, { key: other.secretKey })
  assert.equal(stolen.body.error.code, 'invalid_cursor')
  const elsewhere = await send(api, 'GET', `/catalog?cursor=${body.meta.next_cursor}`, { key: tenant.publishableKey })
  assert.equal(elsewhere.body.error.code, 'invalid_cursor')
})

test("another tenant's agent is 404 as if it did not exist", async () => {
  const { id } = await registered({ model })
  const other = await api.makeTenant()
  const never = 'agt_0000000000000000000000'
  const face = ({ status, body, text }: Awaited<ReturnType<typeof send>>) => [status, text.replace(body.error.request_id, 'req_')]
  const asked = async (agent: string) => [
    face(await send(root, 'GET', `/agents/${agent}`, { key: other.secretKey })),
    face(await patch(agent, { name: 'Mine' }, other)),
    face(await setStatus(agent, 'active', other)),
    face(await send(root, 'GET', `/agents/${agent}/ratings`, { key: other.publishableKey })),
  ]
  const answers = await asked(id)
  assert.deepEqual(answers, await asked(never))
  for (const [status] of answers) assert.equal(status, 404)
  assert.equal((await read(id)).name, registration.name)
})

test('the agents are at the root, and 404 under /v1', async () => {
  const { id } = await registered()
  for (const op of Object.values(operations).filter(({ path }) => path.startsWith('/agents'))) {
    const path = op.path.replace('{agentId}', id)
    const body = 'body' in op ? { body: op.example.body } : {}
    const { status, body: answer } = await send(api, op.method, path, { key: tenant.secretKey, ...body })
    assert.deepEqual([status, answer.error.code], [404, 'not_found'], `${op.method} /v1${path}`)
  }
})

test('concurrent changes are all applied', async () => {
  const { id } = await registered()
  const changes = [{ name: 'A' }, { description: 'B' }, { instructions: 'C' }, { greeting: 'D' }, { price_credits: 9 }]
  await Promise.all(changes.map((change) => untilServed(() => patch(id, change))))
  const { name, description, instructions, greeting, price_credits } = await read(id)
  assert.deepEqual([name, description, instructions, greeting, price_credits], ['A', 'B', 'C', 'D', 9])
})

test('for development, an installation may take http on its own machine, and no other private address', async () => {
  const local = await startTestApi({ egress: 'loopback' })
  try {
    const by = await local.makeTenant()
    const at = async (endpoint: string) =>
      (await send({ baseUrl: local.origin }, 'POST', '/agents', { key: by.secretKey, body: { ...registration, endpoint } }))
        .status
    assert.deepEqual(await Promise.all(['http://127.0.0.1:8080/', 'http://localhost:8080/', endpoint].map(at)), [201, 201, 201])
    assert.deepEqual(await Promise.all(['http://10.0.0.1/', 'https://10.0.0.1/', 'http://[fd00::1]/'].map(at)), [400, 400, 400])
  } finally {
    await local.close()
  }
})

test('metered prices are shown where there are any, and an agent with an endpoint has none', async () => {
  const plain = await registered()
  assert.ok(!('credits_per_1k_tokens' in plain) && !('credits_per_tool_call' in plain))
  const prices = { credits_per_1k_tokens: 12, credits_per_tool_call: 3 }
  const agent = await registered({ ...prices, model })
  assert.deepEqual([agent.credits_per_1k_tokens, agent.credits_per_tool_call], [12, 3])
  await setStatus(agent.id, 'active')
  const catalog = (await send(api, 'GET', '/catalog?limit=200', { key: tenant.publishableKey })).body.data
  const listed = catalog.find(({ id }: { id: string }) => id === agent.id)
  assert.deepEqual([listed.credits_per_1k_tokens, listed.credits_per_tool_call], [12, 3])
  assertInvalid(await register({ credits_per_1k_tokens: 1, endpoint }), '/credits_per_1k_tokens')
  assertInvalid(await patch(agent.id, { model: null, endpoint, credits_per_1k_tokens: 0 }), '/credits_per_tool_call')
  const remote = await patch(agent.id, { model: null, endpoint, credits_per_1k_tokens: 0, credits_per_tool_call: 0 })
  assert.deepEqual([remote.status, remote.body.data.endpoint], [200, endpoint])
})
