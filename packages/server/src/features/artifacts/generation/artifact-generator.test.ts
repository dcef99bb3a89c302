import assert from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { limits } from '@atrium/contract/limits'
import { statement } from '#db/database.ts'
import { send, sendUntilServed, type Got } from '#testing/http.ts'
import { eventually } from '#testing/session-world.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { originalKey } from '#features/blob-deletions/blob-keys.ts'
import { gradient } from '@atrium/media/testing/sample-pictures'
import { BlobError } from '#ports/blobs/blobs.ts'
import { ArtifactGenerator } from './artifact-generator.ts'

interface Customer {
  tenant: TestTenant
  collection: { id: string; token: string }
}

let api: TestApi
let generator: ArtifactGenerator
let provider: Server
/** Runs while a provider paints. */
let whilePainting: () => Promise<unknown>

before(async () => {
  const png = await gradient(96, 64).png().toBuffer()
  const answer = JSON.stringify({ created: 1, data: [{ b64_json: png.toString('base64') }] })
  provider = createServer((req, res) => {
    req.resume().on('end', () => {
      void whilePainting().then(() => res.writeHead(200, { 'content-type': 'application/json' }).end(answer))
    })
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  api = await startTestApi({ egress: 'loopback' })
})

after(async () => {
  await api.close()
  provider.close()
})

// Also after a failed test: a running generator would keep this process alive.
afterEach(() => generator.stop())

beforeEach(() => {
  whilePainting = () => Promise.resolve()
  generator = new ArtifactGenerator(api.ctx, api.databaseUrl, 2)
})

async function makeCustomer(): Promise<Customer> {
  const tenant = await api.makeTenant()
  const { data } = (await send(api, 'POST', '/collections', { key: tenant.publishableKey, body: {} })).body
  return { tenant, collection: { id: data.id, token: data.admin_token } }
}

/** A customer whose pictures the provider of these tests paints. */
async function makePainter(): Promise<Customer> {
  const customer = await makeCustomer()
  await setProvider(customer)
  return customer
}

async function setProvider({ tenant }: Customer): Promise<void> {
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
  const body = { openai_compatible: { url, key: 'sk-canary-88888' } }
  const set = await send(api, 'PUT', '/tenant/provider-keys', { key: tenant.secretKey, body })
  assert.equal(set.status, 200)
}

const asOwner = ({ tenant, collection }: Customer) => ({
  key: tenant.publishableKey,
  collectionToken: collection.token,
  idempotencyKey: randomUUID(),
})
const paint = (customer: Customer, body: object = { prompt: 'sea' }) =>
  sendUntilServed(api, 'POST', `/collections/${customer.collection.id}/paint`, { ...asOwner(customer), body })
const produce = (customer: Customer) =>
  sendUntilServed(api, 'POST', `/collections/${customer.collection.id}/produce`, { ...asOwner(customer), body: { kind: 'card' } })
const artifactOf = async (customer: Customer, { body }: Got) =>
  (await send(api, 'GET', `/collections/${customer.collection.id}/artifacts/${body.data.id}`, asOwner(customer))).body.data

const countStatement = statement<{ jobs: number }>(
  'test-count-jobs',
  'select count(*) as jobs from artifact_jobs where tenant_id = $1',
)
const jobsOf = async ({ tenant }: Customer) => (await api.ctx.db.query(countStatement, [tenant.id]))[0]!.jobs

async function flood(customer: Customer, jobs: number): Promise<void> {
  for (let left = jobs; left > 0; left -= 20)
    for (const { status } of await Promise.all(Array.from({ length: Math.min(20, left) }, () => produce(customer))))
      assert.equal(status, 202)
}

describe('the queue', () => {
  test('accepts an exact number of jobs of one tenant, and says when to retry; another tenant’s jobs are accepted', async () => {
    const [many, one] = [await makeCustomer(), await makeCustomer()]
    await flood(many, limits.activeGenerations - 5)
    const last = await Promise.all(Array.from({ length: 12 }, () => produce(many)))
    assert.equal(last.filter(({ status }) => status === 202).length, 5)
    for (const refused of [last.find(({ status }) => status !== 202)!, await paint(many)]) {
      assert.deepEqual([refused.status, refused.body.error.code], [429, 'rate_limited'])
      assert.ok(Number(refused.headers.get('retry-after')) > 0)
      assert.match(refused.body.error.message, /200 artifacts/)
    }
    assert.equal(await jobsOf(many), limits.activeGenerations)
    assert.equal((await produce(one)).status, 202)
    await send(api, 'DELETE', `/collections/${many.collection.id}`, asOwner(many))
    await send(api, 'DELETE', `/collections/${one.collection.id}`, asOwner(one))
  })

  test('two tenants that flood it do not delay the paint of a third one', async () => {
    const [first, second, third] = [await makeCustomer(), await makeCustomer(), await makeCustomer()]
    await flood(first, 60)
    await flood(second, 60)
    await generator.start()
    await eventually(async () => (await jobsOf(first)) < 58 && (await jobsOf(second)) < 58, 'both are served', 30_000)
    const before = (await jobsOf(first)) + (await jobsOf(second))
    const painted = await paint(third)
    await eventually(async () => (await artifactOf(third, painted)).stage !== 'queued', 'its turn comes', 30_000)
    const overtook = before - (await jobsOf(first)) - (await jobsOf(second))
    // At least two that were under way and, of each customer, the one whose turn came at the same time. A poll of this
    // test takes as long as some cards.
    assert.ok(overtook < 30, `${overtook} others were made before its turn`)
    await eventually(async () => (await artifactOf(third, painted)).stage === 'done', 'it is painted', 30_000)
    for (const one of [first, second]) await send(api, 'DELETE', `/collections/${one.collection.id}`, asOwner(one))
  })

  test('a tenant whose provider does not answer delays only its own jobs', async () => {
    const [stuck, other] = [await makePainter(), await makeCustomer()]
    let [asked, answer] = [0, () => undefined as void]
    const answered = new Promise<void>((resolve) => (answer = resolve))
    whilePainting = () => {
      asked++
      return answered
    }
    try {
      for (let job = 0; job < 20; job++) assert.equal((await paint(stuck)).status, 202)
      generator = new ArtifactGenerator(api.ctx, api.databaseUrl)
      await generator.start()
      await eventually(async () => asked === 2, 'the provider is asked', 60_000)
      const painted = await paint(other)
      await eventually(async () => (await artifactOf(other, painted)).status === 'ready', 'the other one is painted', 90_000)
      assert.equal(asked, 2)
      assert.equal(await jobsOf(stuck), 20)
    } finally {
      await send(api, 'DELETE', `/collections/${stuck.collection.id}`, asOwner(stuck))
      answer()
    }
  })

  test('the answers of many providers are opened two at a time', async (t) => {
    const customers = await Promise.all(Array.from({ length: 6 }, makePainter))
    let [asked, opening, most] = [0, 0, 0]
    let answer = () => undefined as void
    const answered = new Promise<void>((resolve) => (answer = resolve))
    whilePainting = () => {
      if (++asked === customers.length) answer()
      return answered
    }
    const { pictures } = api.ctx
    const withFolder = pictures.withFolder.bind(pictures)
    t.mock.method(pictures, 'withFolder', async (...args: Parameters<typeof withFolder>) => {
      most = Math.max(most, ++opening)
      // The answers of the others arrive meanwhile.
      await delay(300)
      return withFolder(...args).finally(() => opening--)
    })
    const started = await Promise.all(customers.map(async (one) => [one, await paint(one)] as const))
    generator = new ArtifactGenerator(api.ctx, api.databaseUrl)
    await generator.start()
    for (const [one, painted] of started)
      await eventually(async () => (await artifactOf(one, painted)).status === 'ready', 'it is ready', 90_000)
    assert.equal(most, 2)
  })
})

describe('a late worker', () => {
  test('does not overwrite what another worker stored, and changes nothing', async (t) => {
    const customer = await makePainter()
    const started = await paint(customer)
    const { id } = started.body.data
    const key = originalKey({ tenantId: customer.tenant.id, collectionId: customer.collection.id }, id)
    const steal = statement<never>(
      'test-steal-job',
      `update artifact_jobs set lease_owner = 'another', lease_until = now() + interval '30 seconds' where artifact_id = $1`,
    )
    whilePainting = async () => {
      await api.ctx.db.query(steal, [id])
      await api.ctx.blobs.write(key, Buffer.from('of another'), { mime: 'image/png' })
    }
    generator = new ArtifactGenerator(api.ctx, api.databaseUrl, 1)
    const clean = t.mock.method(api.ctx.pictures, 'clean')
    await generator.start()
    await eventually(async () => clean.mock.callCount() === 1, 'it has its picture', 90_000)
    // One at a time: the first has ended before this one starts.
    whilePainting = () => Promise.resolve()
    const next = await paint(customer)
    await eventually(async () => (await artifactOf(customer, next)).stage === 'done', 'the next one is made', 90_000)
    assert.equal(String(await buffer((await api.ctx.blobs.read(key)).stream)), 'of another')
    assert.equal((await artifactOf(customer, started)).status, 'painting')
    assert.equal(await jobsOf(customer), 1)
    // The job would be claimed when its lease ends, in one of the next tests.
    await send(api, 'DELETE', `/collections/${customer.collection.id}`, asOwner(customer))
    assert.equal(await jobsOf(customer), 0)
  })
})

test('a worker whose lease ran out while it paints does not claim the same job again, and asks the provider once', async (t) => {
  const customer = await makePainter()
  const { db } = api.ctx
  const query = db.query.bind(db)
  let [painted, claims] = [0, 0]
  t.mock.method(db, 'query', async (...args: Parameters<typeof query>) => {
    const rows = await query(...args)
    if (args[0].name === 'artifact-jobs-claim') claims++
    return rows
  })
  const started = await paint(customer)
  // As after the process has stood still: nobody has renewed the lease.
  const expire = statement<never>(
    'test-expire-lease',
    `update artifact_jobs set lease_until = now() - interval '1 second' where artifact_id = $1`,
  )
  whilePainting = async () => {
    if (painted++ > 0) return
    await query(expire, [started.body.data.id])
    const atLeast = claims + 2
    await eventually(async () => claims >= atLeast, 'the worker has looked for jobs', 20_000)
  }
  await generator.start()
  await eventually(async () => (await artifactOf(customer, started)).status === 'ready', 'it is ready', 90_000)
  assert.equal(painted, 1)
})

test('repeated database failures at every step lose no picture, and cause no second request to the provider', async (t) => {
  const customer = await makePainter()
  let painted = 0
  whilePainting = async () => void painted++
  const { db } = api.ctx
  const [query, transaction] = [db.query.bind(db), db.transaction.bind(db)]
  const reset = () => Promise.reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))
  /** By step: how often it will still fail. */
  const failures = new Map<string, number>([
    ['artifacts-stage', 2],
    ['artifact-jobs-renew', 2],
    ['a transaction', 2],
  ])
  const fails = (step: string) => {
    const left = failures.get(step) ?? 0
    failures.set(step, left - 1)
    return left > 0
  }
  const started = await paint(customer)
  t.mock.method(db, 'query', (...args: Parameters<typeof query>) => (fails(args[0].name) ? reset() : query(...args)))
  t.mock.method(db, 'transaction', (...args: Parameters<typeof transaction>) =>
    fails('a transaction') ? reset() : transaction(...args),
  )
  await generator.start()
  await eventually(
    async () => [...failures.values()].every((left) => left < 0),
    'every step has failed and been tried again',
    20_000,
  )
  await eventually(async () => (await artifactOf(customer, started)).status === 'ready', 'it is ready', 20_000)
  assert.equal(painted, 1)
})

test('a picture that cannot be opened, as the temporary folder is missing, causes no second request to its provider', async (t) => {
  const customer = await makePainter()
  let painted = 0
  whilePainting = async () => void painted++
  const withFolder = t.mock.method(api.ctx.pictures, 'withFolder')
  const started = await paint(customer)
  const { TMPDIR: folder } = process.env
  process.env['TMPDIR'] = join(tmpdir(), randomUUID())
  try {
    await generator.start()
    await eventually(async () => withFolder.mock.callCount() > 2, 'it was tried again', 60_000)
  } finally {
    if (folder === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = folder
  }
  await eventually(async () => (await artifactOf(customer, started)).status === 'ready', 'it is ready', 60_000)
  assert.equal(painted, 1)
})
const dueStatement = statement<never>(
  'test-due-now',
  `update artifact_jobs set run_at = now() where artifact_id = $1 and run_at > now()`,
)

/** A job that waits some seconds for its next attempt begins it now. */
async function isReadySoon(customer: Customer, started: Got): Promise<boolean> {
  await api.ctx.db.query(dueStatement, [started.body.data.id])
  return (await artifactOf(customer, started)).status === 'ready'
}

test('an outage of the blob store, before and after the provider has painted, causes no second request to it', async (t) => {
  const customer = await makePainter()
  let [painted, isDown, refused] = [0, true, 0]
  whilePainting = async () => {
    painted++
    isDown = true
  }
  const { blobs } = api.ctx
  const [stat, write] = [blobs.stat.bind(blobs), blobs.write.bind(blobs)]
  /** The store is back after each refusal. */
  const unlessDown = <T>(call: () => Promise<T>) => {
    if (!isDown) return call()
    isDown = false
    refused++
    return Promise.reject(new BlobError('unavailable', 'the object storage cannot be reached'))
  }
  t.mock.method(blobs, 'stat', (...args: Parameters<typeof stat>) => unlessDown(() => stat(...args)))
  t.mock.method(blobs, 'write', (...args: Parameters<typeof write>) => unlessDown(() => write(...args)))
  const started = await paint(customer)
  await generator.start()
  await eventually(() => isReadySoon(customer, started), 'it is ready', 120_000)
  assert.deepEqual({ painted, refused }, { painted: 1, refused: 2 })
})

for (const end of ['stops', 'is killed'] as const)
  test(`a worker that ${end} in an outage of the blob store leaves the picture to the next one, and no second request`, async (t) => {
    const customer = await makePainter()
    let [painted, isDown, refused] = [0, false, 0]
    whilePainting = async () => {
      painted++
      isDown = true
    }
    const { blobs } = api.ctx
    const write = blobs.write.bind(blobs)
    t.mock.method(blobs, 'write', (...args: Parameters<typeof write>) => {
      if (!isDown) return write(...args)
      refused++
      return Promise.reject(new BlobError('unavailable', 'the object storage cannot be reached'))
    })
    const started = await paint(customer)
    await generator.start()
    await eventually(async () => refused > 0, 'the picture cannot be stored', 90_000)
    if (end === 'is killed') {
      const kill = statement<never>(
        'test-kill-worker',
        `update artifact_jobs set lease_owner = 'killed', lease_until = now(), run_at = now() where artifact_id = $1`,
      )
      await api.ctx.db.query(kill, [started.body.data.id])
    }
    await generator.stop()
    isDown = false
    generator = new ArtifactGenerator(api.ctx, api.databaseUrl, 1)
    await generator.start()
    await eventually(() => isReadySoon(customer, started), 'it is ready', 120_000)
    const { provider: by, model, seed, width, height } = await artifactOf(customer, started)
    assert.deepEqual([painted, by, model, typeof seed, width, height], [1, 'openai_compatible', 'default', 'number', 96, 64])
    assert.equal(await jobsOf(customer), 0)
  })

const lateWrites = [
  {
    what: 'a card whose collection has changed',
    start: (customer: Customer) => produce(customer),
    change: (customer: Customer) => {
      const body = { metadata: { share_title: 'What the next attempt would show' } }
      return send(api, 'PATCH', `/collections/${customer.collection.id}`, { ...asOwner(customer), body })
    },
  },
  {
    what: 'a picture of the local painter whose tenant has a provider now',
    start: (customer: Customer) => paint(customer),
    change: setProvider,
  },
]
for (const { what, start, change } of lateWrites)
  test(`a write that the blob store executes late does not change what is served of ${what}`, async (t) => {
    const customer = await makeCustomer()
    const { blobs } = api.ctx
    const write = blobs.write.bind(blobs)
    let late: Parameters<typeof write> | undefined
    t.mock.method(blobs, 'write', async (...args: Parameters<typeof write>) => {
      if (late) return write(...args)
      late = args
      await change(customer)
      throw new BlobError('unavailable', 'the answer of the object storage is lost')
    })
    const started = await start(customer)
    await generator.start()
    await eventually(() => isReadySoon(customer, started), 'it is ready', 120_000)
    await write(...late!)
    const { id, sha256 } = await artifactOf(customer, started)
    const headers = { 'x-collection-token': customer.collection.token }
    const served = await fetch(`${api.baseUrl}/media/${id}`, { headers })
    assert.equal(hash('sha256', Buffer.from(await served.arrayBuffer())), sha256)
  })
