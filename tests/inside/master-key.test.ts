import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { generateDevicePairs, openListedRoom, roomDeviceOf } from '../../packages/client/src/listed-room.ts'
import { newRoomSecret } from '../../packages/client/src/new-room-secret.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { sealedColumns, type SealedRef } from '../../packages/server/src/crypto/vault/sealed-columns.ts'
import { Vault } from '../../packages/server/src/crypto/vault/vault.ts'
import { agentControlToken, agentEndpoint } from '../support/agent-endpoint.ts'
import { adminToken, freePort, startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, call, makeCollection, makeTenant } from '../support/call-api.ts'
import { grantCoupon, sellCredits } from '../support/credits.ts'
import { fundIssuer } from '../support/fund-issuer.ts'
import { startForShelves } from '../support/matrix-world.ts'
import { queryDatabase } from '../support/query-database.ts'
import { runAtrium } from '../support/run-atrium.ts'
import { newRoom } from '../support/sessions.ts'

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]

let database: TestDatabase
let atrium: AtriumProcess
before(async () => {
  database = await createTestDatabase()
})
after(async () => {
  await atrium?.end('SIGKILL')
  await database.drop()
})

/** The installation, restarted with these master keys, as by an operator who changed the variable. */
async function restart(...keys: Buffer[]): Promise<void> {
  await atrium?.end()
  atrium = await startForShelves(database.url, { ATRIUM_MASTER_KEY: keys.map((key) => key.toString('base64')).join(',') })
}

const order = { idempotencyKey: 'order 1', body: { kind: 'secret' } }

/** Has a value in every column that is sealed. */
async function plant() {
  const { origin } = atrium
  const { secret, publishable: key } = await makeTenant(origin)
  const ask = async (route: string, body: object, more = {}) =>
    (await askGood(origin, route, { key: secret, body, ...more })).data
  await ask('PUT /v1/tenant/provider-keys', { openai: 'sk-planted-0123456789' })
  await ask('PUT /v1/tenant/webhooks', { url: 'https://hooks.example/in' })
  await ask('POST /v1/tenant/webhooks/endpoints', { url: 'https://hooks.example/further' })
  const { id: collection, token } = await makeCollection(origin, key)
  const items = `/v1/collections/${collection}/items`
  const { id: item } = await ask(`POST ${items}`, { type: 'message', content: 1 }, { token })
  await ask(`PATCH ${items}/${item}`, { access: 'email', grant: ['ada@harbour.example'] }, { token })
  const artifacts = `/v1/collections/${collection}/artifacts`
  const picture = { kind: 'image', url: 'https://pictures.example/a.webp' }
  const { id: artifact } = await ask(`POST ${artifacts}`, picture, { token })
  await ask(`PATCH ${artifacts}/${artifact}`, { access: 'email', grant: ['bob@harbour.example'] }, { token })
  await fundIssuer(origin, secret, 10)
  const checkout = await sellCredits(origin, secret, 'license_key', 5)
  const manifest = { name: 'Lamplighter', description: 'd', instructions: '', price_credits: 1, max_minutes: 30 }
  const endpoint = await agentEndpoint()
  const { id: agent } = await ask('POST /agents', {
    ...manifest,
    endpoint,
    tools: [{ mcp: 'https://t.example/', secret: 'xyz' }],
  })
  await ask(`PUT /agents/${agent}/status`, { status: 'private' })
  const coupon = await grantCoupon(origin, secret, 5)
  const armed = await ask(
    'POST /v1/sessions',
    { agent_id: agent, coupon, room: newRoom(), arm: true },
    { key, idempotencyKey: 'order 2' },
  )
  // The device of a hosted agent, for a room whose lines the clients seal.
  const device = await roomDeviceOf(await generateDevicePairs())
  const { room } = newRoomSecret()
  await openListedRoom({ spaceUrl: `${origin}/v1/space`, audience: atrium.spacesOrigin, room, device }).make()
  const { id: hosted } = await ask('POST /agents', manifest)
  await ask(`PUT /agents/${hosted}/status`, { status: 'private' })
  const prepared = { agent_id: hosted, coupon, room: { room }, arm: true }
  await ask('POST /v1/sessions', prepared, { key, idempotencyKey: 'order 3' })
  const stored = await ask('POST /v1/tenant/keys', order.body, { idempotencyKey: order.idempotencyKey })
  return { secret, checkout, summonKey: armed.summon_key, stored }
}

/** What each column holds, in the clear. */
async function openAll(...keys: [Buffer, ...Buffer[]]): Promise<Record<string, Record<string, string>>> {
  const vault = new Vault(keys)
  const opened: Record<string, Record<string, string>> = {}
  for (const { table, column, tenant, row } of sealedColumns) {
    const rows = await queryDatabase<{ tenant: string; row: string; sealed: Buffer }>(
      database.url,
      `select ${tenant} as tenant, ${row} as "row", ${column} as sealed from ${table} where ${column} is not null`,
    )
    const values = rows.map((one) => {
      const place = { table, column, tenant: one.tenant, row: one.row } as SealedRef
      return [`${one.tenant} ${one.row}`, vault.open(one.sealed, place).toString('base64')] as const
    })
    opened[`${table}.${column}`] = Object.fromEntries(values)
  }
  return opened
}

async function reseal({ origin } = atrium): Promise<{ code: number | null | undefined; output: string }> {
  const run = runAtrium(['reseal'], { ATRIUM_PUBLIC_URL: origin, ATRIUM_ADMIN_TOKEN: adminToken })
  return { code: await run.ended(30_000), output: run.output() }
}

test('the list of sealed columns is whole: what else is stored as bytes is a hash, or opens with the caller’s key', async () => {
  const columns = await queryDatabase<{ name: string }>(
    database.url,
    `select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and data_type = 'bytea' and column_name not like '%hash' and column_name <> 'hash_before'
        -- A partition has the columns of its table.
        and not exists (select from pg_class where relispartition and oid = to_regclass(format('public.%I', table_name)))
        -- The transparency log is public: its entries, and hashes of them.
        and table_name not like 'log\\_%'
        -- The nodes of the books are hashes and sums. Their salts hide accounts from other holders of a proof, not from us.
        and table_name not like 'books\\_%' and table_name not like 'event\\_root%'
        -- A picture, on its way to the blob store, which does not seal it either.
        and (table_name, column_name) <> ('artifact_jobs', 'kept_bytes')
        -- A version of an agent is named by the SHA-256 of its manifest.
        and column_name not in ('version', 'agent_version') order by 1`,
  )
  const listed = sealedColumns.map(({ table, column }) => `${table}.${column}`)
  assert.deepEqual(
    columns.map(({ name }) => name),
    [...listed, 'idempotency_keys.answer'].toSorted(),
  )
})

test('a new master key takes over in service: nothing is lost when the old one is gone', async (t) => {
  await restart(oldKey)
  const planted = await plant()
  // A sweep makes the key of the transparency log, which is sealed too.
  while ((await fetch(`${atrium.origin}/log/vkey`)).status !== 200) await setTimeout(100)
  const values = await openAll(oldKey)
  for (const [column, held] of Object.entries(values)) assert.ok(Object.keys(held).length > 0, `${column} holds a value`)
  const noNeed = await reseal()
  assert.equal(noNeed.code, 0)
  assert.match(
    noNeed.output,
    /^  Key 1 \(\w+\) seals 15 values, 0 of them resealed now. Keep it.\n  There is no other key. To change it: docs/,
  )

  await restart(newKey, oldKey)
  const replay = () => call(atrium.origin, 'POST /v1/tenant/keys', { key: planted.secret, ...order })
  assert.deepEqual((await replay()).data, planted.stored, 'an answer that was kept under the old key')
  const other = { ...order, body: { kind: 'publishable' } }
  const reused = await call(atrium.origin, 'POST /v1/tenant/keys', { key: planted.secret, ...other })
  assert.equal(reused.code, 'idempotency_key_reused', 'another body is told from it under the old key too')
  const fresh = await makeTenant(atrium.origin)
  await askGood(atrium.origin, 'PUT /v1/tenant/provider-keys', { key: fresh.secret, body: { google: 'AI-planted-0123456789' } })
  await assert.rejects(openAll(newKey), 'some are still sealed under the old key')

  const { code, output } = await reseal()
  t.diagnostic(output)
  assert.equal(code, 0, output)
  assert.match(
    output,
    /seals 16 values, 15 of them resealed now. Keep it.\n✓ Key 2 .*: needed only for stored answers .*, until 20.*Remove it 30 days \(or ATRIUM_EVENT_RETENTION_DAYS/,
  )
  assert.deepEqual((await replay()).data, planted.stored)
  const resealed = await openAll(newKey)
  for (const [column, held] of Object.entries(values)) {
    for (const [row, value] of Object.entries(held)) assert.equal(resealed[column]![row], value, `${column} of ${row}`)
  }

  await restart(newKey)
  const shown = await askGood(atrium.origin, `GET /v1/checkout/${planted.checkout}`, { key: planted.secret })
  assert.match(shown.data.license_key, /^lic_/)
  const summoned = await askGood(atrium.origin, 'POST /sessions/summon', {
    idempotencyKey: 'order 3',
    body: { summon_key: planted.summonKey },
  })
  assert.ok(await agentControlToken(summoned.data.id), 'the remote agent is called')

  await queryDatabase(
    database.url,
    `update provider_keys set key_sealed = overlay(key_sealed placing '\\x01020304'::bytea from 2) where provider = 'google'`,
  )
  const damaged = await reseal()
  assert.equal(damaged.code, 1, 'a value that no configured key opens')
  assert.match(damaged.output, /✗ A key that is not configured \(01020304\): needed for 1 value, unreadable without it/)
})

test('the old key is still needed while a process that seals under it runs', async () => {
  const shared = await createTestDatabase()
  const start = (...keys: Buffer[]) =>
    startAtrium({
      databaseUrl: shared.url,
      role: 'api',
      env: { ATRIUM_MASTER_KEY: keys.map((key) => key.toString('base64')).join(',') },
    })
  const forgotten = await start(oldKey, newKey)
  const renewed = await start(newKey, oldKey)
  try {
    const early = await reseal(renewed)
    assert.match(early.output, /✗ Key 2 .*: 1 running process still seals under it. Keep it/)
    assert.equal(early.code, 1)
    // Why: it goes on to seal under the old key.
    const { secret } = await makeTenant(forgotten.origin)
    await askGood(forgotten.origin, 'PUT /v1/tenant/provider-keys', { key: secret, body: { openai: 'sk-planted-0123456789' } })
    await forgotten.end()
    const { code, output } = await reseal(renewed)
    // The provider key, and the key of the transparency log if the old process has made it.
    assert.match(output, /seals [23] values, [12] of them resealed now.*\n✓ Key 2/)
    assert.equal(code, 0)
  } finally {
    await forgotten.end('SIGKILL')
    await renewed.end('SIGKILL')
    await shared.drop()
  }
})

test('a cached page of a wall is fetched anew under a new master key, and its stream needs the old key no more', async () => {
  const walls = await createTestDatabase()
  // The page names its own address.
  const port = await freePort()
  const start = (...keys: Buffer[]) =>
    startAtrium({
      databaseUrl: walls.url,
      role: 'api',
      port,
      env: { ATRIUM_MASTER_KEY: keys.map((key) => key.toString('base64')).join(',') },
    })
  let api = await start(oldKey)
  const renew = async (...keys: Buffer[]) => {
    await api.end()
    api = await start(...keys)
  }
  try {
    const { publishable: key } = await makeTenant(api.origin)
    const { id } = (await askGood(api.origin, 'POST /v1/collections', { key, body: { wall: true } })).data
    const load = async (headers: Record<string, string> = {}) => {
      const page = await fetch(`${api.origin}/v1/collections/${id}/wall`, { headers })
      const [, cursor = ''] = /data-cursor="([^"]+)"/.exec(await page.text()) ?? []
      return { status: page.status, cursor, headers: { 'if-none-match': page.headers.get('etag') ?? '' } }
    }
    const stream = async ({ cursor }: { cursor: string }) => {
      const answer = await fetch(`${api.origin}/v1/collections/${id}/wall/stream?cursor=${cursor}`)
      await answer.body?.cancel()
      return answer.status
    }
    const cached = await load()
    assert.equal((await load(cached.headers)).status, 304)
    await renew(newKey, oldKey)
    assert.equal(await stream(cached), 200, 'the old key is there')
    const renewed = await load(cached.headers)
    assert.equal(renewed.status, 200)
    assert.equal((await load(renewed.headers)).status, 304)
    const { code, output } = await reseal(api)
    assert.equal(code, 0, output)
    assert.match(output, /✓ Key 2 .*: nothing that is stored needs it\. Remove it 30 days \(or ATRIUM_EVENT_RETENTION_DAYS/)
    await renew(newKey)
    assert.deepEqual([await stream(cached), await stream(renewed)], [400, 200])
  } finally {
    await api.end('SIGKILL')
    await walls.drop()
  }
})
