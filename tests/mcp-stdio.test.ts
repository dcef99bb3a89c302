import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { operations } from '../packages/contract/src/table.ts'
import { tools } from '../packages/mcp/src/tools.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, makeCollection, makeTenant, type TestCollection, type TestTenant } from './support/call-api.ts'
import { buyLicense, grantCoupon, makeWallet, sellCredits } from './support/credits.ts'
import { formsFound } from './support/find-secrets.ts'
import { closeClients, connectHttp, connectStdio, type TestMcp } from './support/mcp-client.ts'
import { runAtrium } from './support/run-atrium.ts'
import { makeAgent, newRoom, startSession } from './support/sessions.ts'

/** Anything that has the form of a credential, except a publishable key. */
const credential = /(?:wsk|cat|cct|sct|sk|wlt|cpn|lic|inv)_[0-9A-Za-z]{36}|whsec_\w{20}/
const isGone = (pid: number) => {
  try {
    return !process.kill(pid, 0)
  } catch {
    return true
  }
}

// The tests mostly wait for the processes that they start.
describe('atrium mcp', { concurrency: 4, timeout: 60_000 }, () => {
  let database: TestDatabase
  let atrium: AtriumProcess
  let tenant: TestTenant
  let collection: TestCollection
  let agentId: string
  let coupon: string
  let env: Record<string, string>
  /** With --allow-writes. */
  let writer: TestMcp

  before(async () => {
    database = await createTestDatabase()
    const settings = { ATRIUM_EGRESS: 'loopback', ATRIUM_MCP_WRITES: 'on' }
    atrium = await startAtrium({ databaseUrl: database.url, space: true, env: settings })
    tenant = await makeTenant(atrium.origin)
    collection = await makeCollection(atrium.origin, tenant.publishable, { contributor_policy: 'token', item_access: 'open' })
    agentId = await makeAgent(atrium.origin, tenant, { price_credits: 3 })
    await sellCredits(atrium.origin, tenant.secret, 'prefund', 100)
    coupon = await grantCoupon(atrium.origin, tenant.secret, 20)
    env = { ATRIUM_KEY: tenant.secret, ATRIUM_COLLECTION_TOKEN: collection.token, ATRIUM_COUPON: coupon }
    writer = await connectStdio(atrium.origin, env, { args: ['--allow-writes'] })
  })
  after(async () => {
    await closeClients()
    await atrium?.end('SIGKILL')
    await database?.drop()
  })

  test('it is read only unless it was started with --allow-writes', async () => {
    const own = await grantCoupon(atrium.origin, tenant.secret, 20)
    const mcp = await connectStdio(atrium.origin, { ...env, ATRIUM_COUPON: own })
    const { tools: listed } = await mcp.client.listTools()
    assert.ok(listed.every(({ annotations }) => annotations?.readOnlyHint === true))
    for (const { name } of tools.filter(({ hints }) => hints.writes))
      assert.match((await mcp.call(name)).text, /read-only.*--allow-writes/)
    assert.deepEqual((await mcp.call('get_balance')).data, { balance: 20, held: 0, currency: 'credits' })
    assert.match((await mcp.call('search_docs', { query: 'rotate webhook secret' })).data[0].url, /\/docs\/guides\/webhooks$/)
    await mcp.close()
  })

  test('guides that were unavailable are asked for again', async () => {
    const statuses = [503, 429, 200]
    const sections = JSON.stringify([{ path: '/docs/quay', title: 'Quay', text: 'How to light the lanterns.' }])
    const server = createServer((_, res) => res.writeHead(statuses.shift() ?? 500).end(sections))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const mcp = await connectStdio(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, env)
    try {
      for (let n = 0; n < 2; n++) assert.match((await mcp.call('search_docs', { query: 'lanterns' })).text, /cannot be reached/)
      for (let n = 0; n < 2; n++) assert.equal((await mcp.call('search_docs', { query: 'lanterns' })).data[0].title, 'Quay')
    } finally {
      await mcp.close()
      server.close()
    }
  })

  test('with --allow-writes a session is launched at the agreed price or not at all, followed and stopped', async () => {
    assert.deepEqual(
      await writer.names(),
      tools.map(({ name }) => name),
    )
    assert.ok(tools.length <= 20)
    const { room, mk } = newRoom()
    await askGood(atrium.spacesOrigin, 'POST /space', { body: { op: 'turn', room, mk, message: { text: 'Hello' } } })
    const args = { agent_id: agentId, room, room_key: mk, idempotency_key: 'one launch' }
    const tooDear = await writer.call('launch_session', { ...args, max_price_credits: 2 })
    assert.match(tooDear.text, /price_changed/)
    const agreed = { ...args, idempotency_key: 'another launch', max_price_credits: 3 }
    const { data: launched, text } = await writer.call('launch_session', agreed)
    assert.equal(launched?.price_credits, 3, text)
    assert.equal((await writer.call('launch_session', agreed)).data.id, launched.id, 'a repeat launches nothing')
    assert.ok(['launching', 'running'].includes((await writer.call('get_session', { session_id: launched.id })).data.status))
    assert.equal((await writer.call('stop_session', { session_id: launched.id })).data.status, 'stopped')
    const { id: other } = await startSession(atrium.origin, tenant, agentId)
    assert.match((await writer.call('stop_session', { session_id: other })).text, /did not launch/)
  })

  test('it owns the collections that it makes, while it runs', async () => {
    const { data: made } = await writer.call('create_collection', { metadata: { share_title: 'Quay' }, item_access: 'open' })
    const { data: item } = await writer.call('add_item', { collection_id: made.id, type: 'message', content: 'Hello' })
    await writer.call('curate_item', { collection_id: made.id, item_id: item.id, approved: false })
    assert.equal((await writer.call('list_items', { collection_id: made.id })).data.items[0].approved, false)
    const { data: art } = await writer.call('paint_artifact', { collection_id: made.id, prompt: 'A quay', use_coupon: true })
    let status = 'painting'
    for (let n = 0; status === 'painting' && n < 1_000; n++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      status = (await writer.call('get_artifact', { collection_id: made.id, artifact_id: art.id })).data.status
    }
    assert.equal(status, 'ready')
    // The configured token belongs to the other collection.
    const own = await writer.call('list_items', { collection_id: collection.id })
    assert.deepEqual(own.data.items, [])
  })

  test('no tool returns a secret, over either transport, whatever people pasted', async () => {
    const { origin } = atrium
    const { secret: key } = tenant
    const mine = await makeCollection(origin, key, { contributor_policy: 'token', item_access: 'open' })
    const { room, mk } = newRoom()
    await askGood(atrium.spacesOrigin, 'POST /space', { body: { op: 'turn', room, mk, message: { text: 'Hello' } } })
    const { control } = await startSession(origin, tenant, agentId)
    const license = await buyLicense(origin, key)
    const wallet = await makeWallet(origin, key, 5)
    const hook = { url: 'https://app.example/hook' }
    const { secret: webhookSecret } = (await askGood(origin, 'PUT /v1/tenant/webhooks', { key, body: hook })).data as never
    const rotated = await askGood(origin, `POST /v1/collections/${mine.id}/tokens`, {
      key,
      body: { rotate: ['contributor_token'] },
    })
    const secrets = [key, mine.token, rotated.data.contributor_token, control, license, wallet, coupon, mk, webhookSecret]
    assert.ok(secrets.every((secret) => typeof secret === 'string' && secret.length > 20))
    const pasted = secrets.filter((secret) => secret !== mk).join(' ')
    const content = { [pasted]: pasted, nested: [pasted, { text: `x${pasted}` }] }
    const body = { type: 'message', content, author: coupon }
    const { data: item } = await askGood(origin, `POST /v1/collections/${mine.id}/items`, { key, token: mine.token, body })
    await askGood(origin, `PATCH /v1/collections/${mine.id}`, {
      key,
      token: mine.token,
      body: { metadata: { share_title: pasted } },
    })
    const picture = { kind: 'image', url: 'https://pictures.example/a.webp', title: pasted.slice(0, 190) }
    const { data: art } = await askGood(origin, `POST /v1/collections/${mine.id}/artifacts`, {
      key,
      token: mine.token,
      body: picture,
    })

    const ids = { collection_id: mine.id, item_id: item.id, artifact_id: art.id }
    const all: Record<string, Record<string, unknown>> = {
      create_collection: { contributor_policy: 'token' },
      add_item: { type: 'message', content: pasted },
      curate_item: { hero: true },
      paint_artifact: { prompt: 'A quay' },
      launch_session: { agent_id: agentId, room, room_key: mk, max_price_credits: 3 },
      search_docs: { query: `secret ${pasted}`.slice(0, 200) },
      explain_error: { code: 'unauthorized' },
    }
    const stdio = await connectStdio(origin, { ...env, ATRIUM_COLLECTION_TOKEN: mine.token }, { args: ['--allow-writes'] })
    const http = await connectHttp(origin, key, { 'x-collection-token': mine.token, 'x-mcp-writes': 'allow' })
    const returned: string[] = []
    const callAll = async (mcp: TestMcp, offered: string[]) => {
      let session: string | undefined
      for (const { name, input } of tools.filter(({ name }) => offered.includes(name))) {
        // A coupon is only in the configuration of the local server.
        const pays = name === 'paint_artifact' ? { use_coupon: mcp === stdio } : {}
        const given = { ...ids, ...pays, ...(session ? { session_id: session } : {}), ...all[name] }
        const args = Object.fromEntries(Object.entries(given).filter(([field]) => field in input.properties))
        const answer = await mcp.call(name, args)
        assert.ok(!answer.isError, `${name}: ${answer.text}`)
        if (name === 'launch_session') session = answer.data.id
        returned.push(JSON.stringify(answer))
        // What is refused says no more.
        returned.push(JSON.stringify(await mcp.call(name, { ...args, [coupon]: mk })))
      }
      returned.push(JSON.stringify(await mcp.client.listTools()))
    }
    await callAll(
      stdio,
      tools.map(({ name }) => name),
    )
    await callAll(http, await http.names())
    const text = returned.join('\n')
    assert.match(text, /\[credential removed\]/, 'the pasted ones were there')
    for (const secret of secrets) assert.deepEqual(formsFound(text, secret), [])
    assert.doesNotMatch(text, credential)
    await Promise.all([stdio.close(), http.close()])
  })

  test('no operation with a one-time secret has a tool that returns all of its fields', () => {
    for (const { output } of tools) {
      const text = JSON.stringify(output)
      // The encryption key of an agent's card is public.
      assert.doesNotMatch(text, /"(?:\w+_token|(?!encryption_key)\w+_key|coupon|wallet_code|secret|sealed)":/)
    }
    assert.ok(Object.values(operations.createCollection.answers).some(({ oneTimeSecret }) => oneTimeSecret))
  })

  test('it ends with its client, and what it cannot read does not end it', async () => {
    const mcp = await connectStdio(atrium.origin, env)
    const { pid } = mcp
    await mcp.close()
    assert.ok(isGone(pid))
    const cli = fileURLToPath(new URL('../packages/cli/bin/atrium.cjs', import.meta.url))
    const child = spawn(process.execPath, [cli, 'mcp'], {
      env: { PATH: process.env['PATH'], ATRIUM_PUBLIC_URL: atrium.origin, ...env },
    })
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    child.stdin.write('this is not JSON\n{"jsonrpc":"2.0","id":7,"method":"ping"}\n')
    const [answer] = (await new Promise<Buffer>((resolve) => child.stdout.once('data', resolve))).toString().split('\n')
    assert.deepEqual(JSON.parse(answer!), { jsonrpc: '2.0', id: 7, result: {} })
    child.stdin.end()
    assert.equal(await ended, 0)
  })

  test('a wrong setting is one line, without its value', async () => {
    const { secret } = tenant
    const cases: [Record<string, string>, RegExp][] = [
      [{}, /^atrium: no key: set ATRIUM_KEY/],
      [{ ATRIUM_KEY: secret.slice(0, -1) }, /^atrium: ATRIUM_KEY must be/],
      [{ ATRIUM_KEY: secret, ATRIUM_COLLECTION_TOKEN: coupon }, /^atrium: ATRIUM_COLLECTION_TOKEN must be/],
      [{ ATRIUM_KEY: secret, ATRIUM_COUPON: collection.token }, /^atrium: ATRIUM_COUPON must be/],
    ]
    await Promise.all(
      cases.map(async ([settings, line]) => {
        const run = runAtrium(['mcp'], settings)
        assert.equal(await run.ended(20_000), 1)
        assert.match(run.output(), line)
        assert.equal(run.output().trim().split('\n').length, 1)
        assert.doesNotMatch(run.output(), credential)
      }),
    )
    const unreachable = await connectStdio('http://127.0.0.1:9', env)
    assert.match((await unreachable.call('get_usage')).text, /network_error.*http:\/\/127\.0\.0\.1:9.*ATRIUM_PUBLIC_URL/)
    await unreachable.close()
  })
})
