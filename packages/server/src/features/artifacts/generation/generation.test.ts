import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import sharp from 'sharp'
import { assertError, send, type Got } from '#testing/http.ts'
import { eventually } from '#testing/session-world.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { issuerAccount, platformAccount, transactionId } from '#features/credits/ledger/movement.ts'
import { sweepLedger } from '#features/credits/ledger/ledger.ts'
import { auditLedger } from '#features/credits/ledger/audit-store.ts'
import { originalKey, ownerOfKey } from '#features/blob-deletions/blob-keys.ts'
import { deleteBlobs } from '#features/blob-deletions/delete-blobs.ts'
import { clearOf } from '../../../../../../tests/support/clear-of.ts'
import { ArtifactGenerator } from './artifact-generator.ts'

let api: TestApi
let tenant: TestTenant
let generator: ArtifactGenerator
let provider: Server
/** The provider’s answer: a status and a body. */
let script: { status: number; body: unknown } = { status: 200, body: {} }
let shownKey: string | undefined
let collection: { id: string; token: string }

before(async () => {
  provider = createServer((req, res) => {
    shownKey = req.headers.authorization
    req
      .resume()
      .on('end', () => res.writeHead(script.status, { 'content-type': 'application/json' }).end(JSON.stringify(script.body)))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  api = await startTestApi({ egress: 'loopback', paintPrice: '3', paintAllowance: '40', paintsPerDay: '40' })
  tenant = await api.makeTenant()
  const id = transactionId('test', randomUUID())
  const to = issuerAccount(tenant.id)
  await api.ctx.ledger.add({
    type: 'transfer',
    id,
    kind: 'prefund',
    from: platformAccount,
    to,
    amountCredits: 1_000,
    actor: tenant.id,
  })
  generator = new ArtifactGenerator(api.ctx, api.databaseUrl, 2)
  await generator.start()
  collection = await makeCollection()
})

after(async () => {
  await generator.stop()
  await api.close()
  provider.close()
})

async function makeCollection(of = tenant) {
  const body = { metadata: { share_title: 'Lantern night', share_description: 'On the quay' } }
  const made = await send(api, 'POST', '/collections', { key: of.publishableKey, body })
  return { id: made.body.data.id as string, token: made.body.data.admin_token as string }
}

const owner = () => ({ key: tenant.publishableKey, collectionToken: collection.token })
const paint = (body: object, idempotencyKey: string = randomUUID()) =>
  send(api, 'POST', `/collections/${collection.id}/paint`, { ...owner(), idempotencyKey, body })
const produce = (body: object) => send(api, 'POST', `/collections/${collection.id}/produce`, { ...owner(), body })
const artifactOf = async (id: string) =>
  (await send(api, 'GET', `/collections/${collection.id}/artifacts/${id}`, owner())).body.data
const done = (started: Got) =>
  eventually(
    async () => {
      const artifact = await artifactOf(started.body.data.id)
      return artifact.stage === 'done' && artifact
    },
    'it is made, or not',
    60_000,
  )
const bytesOf = async (id: string) =>
  buffer((await api.ctx.blobs.read(originalKey({ tenantId: tenant.id, collectionId: collection.id }, id))).stream)

async function makeCoupon(amount: number): Promise<string> {
  const got = await send(api, 'POST', '/wallets/grant', { key: tenant.secretKey, idempotencyKey: randomUUID(), body: { amount } })
  return got.body.data.coupon
}

async function balanceOf(code: string): Promise<{ balance: number; held: number }> {
  const got = await send(api, 'POST', '/wallets/lookup', { key: tenant.publishableKey, body: { wallet_code: code } })
  return got.status === 404 ? { balance: 0, held: 0 } : { balance: got.body.data.balance, held: got.body.data.held }
}

test('a paint that was in flight while the deletion of its tenant began is refused, and holds nothing', async (t) => {
  const { db } = api.ctx
  const gone = await api.makeTenant()
  const { id, token } = await makeCollection(gone)
  const coupon = await makeCoupon(5)
  const checked = Promise.withResolvers<void>()
  const goesOn = Promise.withResolvers<void>()
  const lane = db.lane.bind(db)
  // The gateway has found the tenant active, in the same transaction.
  t.mock.method(db, 'lane').mock.mockImplementationOnce((key) => ({
    transaction: (run) =>
      lane(key).transaction((tx) =>
        run({
          ...tx,
          query: async (statement, values) => {
            if (statement.name === 'tenants-lock') {
              checked.resolve()
              await goesOn.promise
            }
            return tx.query(statement, values)
          },
        }),
      ),
  }))
  const body = { prompt: 'sea', coupon }
  const caller = { key: gone.publishableKey, collectionToken: token, idempotencyKey: randomUUID() }
  const late = send(api, 'POST', `/collections/${id}/paint`, { ...caller, body })
  await Promise.race([checked.promise, late.then(({ text }) => assert.fail(text))])
  const operator = { headers: { 'x-admin-token': api.adminToken } }
  const asked = await send(api, 'POST', `/tenants/${gone.id}/deletion`, { ...operator, body: { after_days: 0 } })
  assert.equal(asked.status, 202, asked.text)
  goesOn.resolve()
  assertError(await late, 401, 'tenant_suspended')
  assert.deepEqual(await balanceOf(coupon), { balance: 5, held: 0 })
})

/** The payer's receipts, as signed. */
async function receiptsOf(code: string): Promise<object[]> {
  const got = await send(api, 'POST', '/receipts/lookup', { key: tenant.publishableKey, body: { wallet_code: code } })
  return got.body.data.map(({ receipt }: { receipt: string }) => {
    const { kind, sub, price, charged } = decodeJwt(receipt)
    return { kind, sub, price, charged }
  })
}

describe('painting', () => {
  test('works without any provider, sets an alternative text, and stores the picture', async () => {
    const started = await paint({ prompt: 'A harbour at dusk under paper lanterns', size: '1536x1024', seed: 7 })
    assert.deepEqual([started.status, started.body.data.status], [202, 'painting'])
    const artifact = await done(started)
    assert.deepEqual([artifact.status, artifact.width, artifact.height, artifact.mime], ['ready', 1536, 1024, 'image/png'])
    assert.ok(artifact.alt.length > 10)
    const bytes = await bytesOf(artifact.id)
    assert.equal(artifact.bytes, bytes.length)
    const { width, height, format } = await sharp(bytes).metadata()
    assert.deepEqual([width, height, format], [1536, 1024, 'png'])
    assert.equal(artifact.url, `${api.ctx.config.publicUrl}/v1/media/${artifact.id}`)
  })

  test('gives the same picture for the same prompt and seed, and another picture for another seed', async () => {
    const all = await Promise.all([1, 1, 2].map(async (seed) => done(await paint({ prompt: 'mountains', seed }))))
    assert.equal(all[0].sha256, all[1].sha256)
    assert.notEqual(all[0].sha256, all[2].sha256)
  })

  test('records provider, model and seed, so that the picture can be painted again', async () => {
    const started = await paint({ prompt: 'mountains' })
    const { provider: by, model, seed, sha256 } = await done(started)
    assert.equal(by, 'local')
    assert.ok(Number.isInteger(seed) && seed >= 0)
    const again = await done(await paint({ prompt: 'mountains', provider: by, model, seed }))
    assert.deepEqual([again.provider, again.model, again.seed, again.sha256], [by, model, seed, sha256])
    const card = await done(await produce({ kind: 'card' }))
    assert.ok(!('provider' in card) && !('model' in card) && !('seed' in card))
  })

  test('counts in the usage report when it succeeds, and not when it fails', async () => {
    await clearOf('day')
    const painted = async () => {
      const rows: { meter: string; quantity: number }[] = (await send(api, 'GET', '/usage?by=month', { key: tenant.secretKey }))
        .body.data
      return rows.find(({ meter }) => meter === 'paints')?.quantity ?? 0
    }
    const before = await painted()
    assert.equal((await done(await paint({ prompt: 'x' }))).status, 'ready')
    assert.equal((await done(await paint({ prompt: 'x', provider: 'openai' }))).status, 'failed')
    assert.equal((await done(await produce({ kind: 'card' }))).status, 'ready')
    assert.equal(await painted(), before + 1)
  })

  test('can be paid by a coupon: the price is held at once, and captured when the picture is stored', async () => {
    const coupon = await makeCoupon(5)
    const key = randomUUID()
    const started = await paint({ prompt: 'a forest', coupon }, key)
    const again = await paint({ prompt: 'a forest', coupon }, key)
    assert.equal(again.text, started.text)
    assert.equal((await done(started)).status, 'ready')
    assert.deepEqual(await balanceOf(coupon), { balance: 2, held: 0 })
    const short = await paint({ prompt: 'a forest', coupon })
    assert.deepEqual([short.status, short.body.error.code], [402, 'insufficient_credit'])
    assert.equal(short.body.error.message, 'The painting needs 3 credits, and the coupon has less. Nothing was charged.')
    const unknown = await paint({ prompt: 'a forest', coupon: 'nonsense' })
    assert.deepEqual([unknown.status, unknown.body.error.code], [402, 'insufficient_credit'])
    assert.match(unknown.body.error.message, /^There is no credit under this coupon/)
    assert.deepEqual(await receiptsOf(coupon), [{ kind: 'paint', sub: started.body.data.id, price: 3, charged: 3 }])
  })

  test('fails if its hold has expired meanwhile, as when the clock of the database jumps forward', async (t) => {
    const { ctx } = api
    const coupon = await makeCoupon(5)
    const write = ctx.blobs.write.bind(ctx.blobs)
    t.mock.method(ctx.blobs, 'write', async (...args: Parameters<typeof write>) => {
      await ctx.db.pool.query(`update ledger_due set due_at = now() - interval '1 minute'`)
      await sweepLedger(ctx.db, ctx.ledger, 100)
      return write(...args)
    })
    const { id, status, error } = await done(await paint({ prompt: 'a tide', coupon }))
    assert.deepEqual([status, error?.code], ['failed', 'gave_up'])
    assert.deepEqual(await balanceOf(coupon), { balance: 5, held: 0 })
    assert.deepEqual(await receiptsOf(coupon), [{ kind: 'paint', sub: id, price: 3, charged: 0 }])
  })

  test('is refused, and holds nothing, if the tenant was suspended after the key was checked', async () => {
    const coupon = await makeCoupon(5)
    // This request puts the key into the cache of the process.
    assert.equal((await send(api, 'GET', `/collections/${collection.id}`, owner())).status, 200)
    const setStatus = (status: string) =>
      api.ctx.db.pool.query('update tenants set status = $2 where id = $1', [tenant.id, status])
    // Without a notification, the process still takes the key for active, as a request that began earlier does.
    await setStatus('suspended')
    const { status, body } = await paint({ prompt: 'a jetty', coupon }).finally(() => setStatus('active'))
    assert.deepEqual([status, body.error.code], [401, 'tenant_suspended'])
    assert.deepEqual(await balanceOf(coupon), { balance: 5, held: 0 })
  })

  test('fails with a code and costs nothing if the provider refuses it; a used-up quota has its own code', async () => {
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
    const keys = { openai_compatible: { url, key: '\nsk-canary-77777\n' } }
    await send(api, 'PUT', '/tenant/provider-keys', { key: tenant.secretKey, body: keys })
    const coupon = await makeCoupon(3)
    script = { status: 400, body: { error: { message: 'sk-canary-77777 no', code: 'content_policy_violation' } } }
    const refused = await done(await paint({ prompt: 'x', provider: 'openai_compatible', coupon }))
    assert.deepEqual([refused.status, refused.error.code], ['failed', 'provider_refused'])
    assert.equal(shownKey, 'Bearer sk-canary-77777')
    assert.ok(!JSON.stringify(refused).includes('canary'))
    assert.deepEqual(await balanceOf(coupon), { balance: 3, held: 0 })
    assert.deepEqual(await receiptsOf(coupon), [{ kind: 'paint', sub: refused.id, price: 3, charged: 0 }])
    script = { status: 429, body: { error: { message: 'quota', code: 'insufficient_quota', type: 'insufficient_quota' } } }
    const used = await done(await paint({ prompt: 'x', provider: 'openai_compatible' }))
    assert.deepEqual([used.status, used.error.code], ['quota_exceeded', 'quota_exceeded'])
    const png = await sharp({ create: { width: 512, height: 384, channels: 3, background: '#123456' } })
      .png()
      .toBuffer()
    script = { status: 200, body: { created: 1, data: [{ b64_json: png.toString('base64') }] } }
    const made = await done(await paint({ prompt: 'x', provider: 'openai_compatible' }))
    assert.deepEqual([made.status, made.width, made.height], ['ready', 512, 384])
    assert.deepEqual([made.provider, made.model], ['openai_compatible', 'default'])
    await send(api, 'PUT', '/tenant/provider-keys', { key: tenant.secretKey, body: { openai_compatible: null } })
  })

  test('fails with a code if there is no key for the requested provider', async () => {
    const artifact = await done(await paint({ prompt: 'x', provider: 'openai' }))
    assert.deepEqual([artifact.status, artifact.error.code], ['failed', 'no_key'])
  })

  test("ends as quota_exceeded when the month's free paints are used up; a failed paint returns its own", async () => {
    await clearOf('day')
    const used = async () =>
      (
        await api.ctx.db.pool.query<{ used: number }>(
          'select sum(used)::int as used from paint_allowances where tenant_id = $1',
          [tenant.id],
        )
      ).rows[0]!.used
    const before = await used()
    await done(await paint({ prompt: 'x', provider: 'openai' }))
    assert.equal(await used(), before)
    await api.ctx.db.pool.query('update paint_allowances set used = 40')
    const artifact = await artifactOf((await paint({ prompt: 'x' })).body.data.id)
    assert.deepEqual([artifact.status, artifact.error.code], ['quota_exceeded', 'quota_exceeded'])
    const told = await eventually(async () => {
      const events: { type: string; data: { artifact_id: string } }[] = (
        await send(api, 'GET', '/events?limit=200', { key: tenant.secretKey })
      ).body.data
      return events.find(({ data }) => data.artifact_id === artifact.id)
    }, 'it is told by event')
    assert.deepEqual(
      [told.type, told.data],
      [
        'artifact.failed',
        {
          collection_id: collection.id,
          artifact_id: artifact.id,
          kind: 'image',
          source: 'paint',
          status: 'quota_exceeded',
          error_code: 'quota_exceeded',
        },
      ],
    )
    const paid = await done(await paint({ prompt: 'x', coupon: await makeCoupon(3) }))
    assert.equal(paid.status, 'ready')
    await api.ctx.db.pool.query('update paint_allowances set used = 0')
  })
})

describe('producing', () => {
  test('a card has the title, the chosen items and the picture of the collection', async () => {
    const add = (text: string) =>
      send(api, 'POST', `/collections/${collection.id}/items`, {
        key: tenant.publishableKey,
        body: { type: 'note', content: { text }, author: 'Ada' },
      })
    const items = [(await add('Happy birthday, old lighthouse')).body.data.id, (await add('灯りの船が橋をくぐった')).body.data.id]
    const plain = await done(await produce({ kind: 'card' }))
    const card = await done(await produce({ kind: 'card', title: 'אור על המים', items, template: 'quotes' }))
    for (const made of [plain, card])
      assert.deepEqual([made.status, made.kind, made.width, made.height], ['ready', 'card', 1200, 630])
    assert.notEqual(plain.sha256, card.sha256)
    assert.equal(card.title, 'אור על המים')
  })

  test('a clip is an animated WebP of the chosen pictures, in their order', async () => {
    const pictures = await Promise.all([1, 2, 3].map(async (seed) => done(await paint({ prompt: 'sea', seed }))))
    const clip = await done(await produce({ kind: 'clip', artifacts: pictures.map(({ id }) => id) }))
    assert.deepEqual([clip.status, clip.mime, clip.kind], ['ready', 'image/webp', 'clip'])
    const { pages, format, loop } = await sharp(await bytesOf(clip.id), { pages: -1 }).metadata()
    assert.ok((pages ?? 0) >= 3)
    assert.deepEqual([format, loop], ['webp', 0])
  })

  test('items and artifacts of another collection are refused, and a clip without pictures fails', async () => {
    const other = await makeCollection()
    const foreign = await send(api, 'POST', `/collections/${other.id}/items`, {
      key: tenant.publishableKey,
      body: { type: 'n', content: 1 },
    })
    for (const body of [{ items: [foreign.body.data.id] }, { artifacts: ['art_0000000000000000000000'] }]) {
      const got = await produce({ kind: 'card', ...body })
      assert.deepEqual([got.status, got.body.error.code], [400, 'invalid_request'])
    }
    const nothing = await done(await produce({ kind: 'clip' }))
    assert.deepEqual([nothing.status, nothing.error.code], ['failed', 'nothing_to_show'])
  })
})

test('deleting a collection during a paint leaves no job, and releases the coupon at the latest when its hold ends', async () => {
  const doomed = await makeCollection()
  const coupon = await makeCoupon(3)
  const options = {
    key: tenant.publishableKey,
    collectionToken: doomed.token,
    idempotencyKey: randomUUID(),
    body: { prompt: 'x', coupon },
  }
  assert.equal((await send(api, 'POST', `/collections/${doomed.id}/paint`, options)).status, 202)
  await send(api, 'DELETE', `/collections/${doomed.id}`, { key: tenant.publishableKey, collectionToken: doomed.token })
  const jobs = await api.ctx.db.pool.query('select 1 from artifact_jobs where collection_id = $1', [doomed.id])
  assert.equal(jobs.rows.length, 0)
  await api.ctx.db.pool.query(`update ledger_due set due_at = now() - interval '1 minute'`)
  await sweepLedger(api.ctx.db, api.ctx.ledger, 100)
  assert.deepEqual(await balanceOf(coupon), { balance: 3, held: 0 })
})

test('an artifact that is deleted while its bytes are stored leaves none', async (t) => {
  const { blobs } = api.ctx
  const write = blobs.write.bind(blobs)
  let written: string | undefined
  t.mock.method(blobs, 'write', async (...args: Parameters<typeof write>) => {
    const [key] = args
    await send(api, 'DELETE', `/collections/${collection.id}/artifacts/${ownerOfKey(key)?.artifactId}`, owner())
    await deleteBlobs(api.ctx, 1_000)
    const stat = await write(...args)
    written = key
    return stat
  })
  await produce({ kind: 'card' })
  const isGone = async () => written !== undefined && (await blobs.stat(written)) === undefined
  await eventually(isGone, 'it is stored, and deleted again', 30_000)
})

test('the ledger balances afterwards', async () => {
  assert.deepEqual((await auditLedger(api.ctx.db)).findings, [])
})
