import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { checkChain, lineHash } from '../../packages/sealing/src/node-lines.ts'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { adminToken, startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, call, makeCollection, makeTenant, type TestCollection, type TestTenant } from '../support/call-api.ts'
import { skipWithoutCitus, startCitusCluster, type CitusCluster } from '../support/citus-cluster.ts'
import { grantCoupon, sellCredits } from '../support/credits.ts'
import { mapConcurrently } from '../support/map-concurrently.ts'
import { startPacedLoad } from '../support/paced-load.ts'
import { queryDatabase } from '../support/query-database.ts'
import { runAtrium } from '../support/run-atrium.ts'
import { digestTables, type TableDigest } from '../support/table-digests.ts'

const size = { tenants: 20, collectionsEach: 5, items: 100_000, rooms: 1_000, coupons: 1_000 }
/** How long the load is measured with all workers, and with one that is down. */
const measuredMs = 15_000

interface Wall extends TestCollection {
  tenant: TestTenant
}

interface Secret {
  room: string
  mk: string
}

describe('100,000 items, 1,000 rooms and their books on Citus', { skip: skipWithoutCitus, timeout: 900_000 }, () => {
  const walls: Wall[] = []
  const rooms = Array.from({ length: size.rooms }, (): Secret => ({
    room: `move-${randomUUID()}`,
    mk: randomBytes(32).toString('base64url'),
  }))
  const env = {
    ATRIUM_DATA_DIR: '',
    ATRIUM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    ATRIUM_ADMIN_TOKEN: adminToken,
    ATRIUM_RATE_LIMIT: 'off',
    ATRIUM_SPACE_ROOMS_PER_HOUR: '100000',
  }
  const steps: string[] = []
  let cluster: CitusCluster
  let server: AtriumProcess
  let stored: Record<string, TableDigest>
  let moved: Record<string, TableDigest>
  let audits: [before: string, after: string]

  /** Runs a command that must succeed; returns what it prints. */
  async function mustRun(args: string[], databaseUrl: string): Promise<string> {
    const startedAt = performance.now()
    const run = runAtrium(args, { ...env, DATABASE_URL: databaseUrl, ATRIUM_PUBLIC_URL: server.origin })
    const code = await run.ended(300_000)
    assert.equal(code, 0, run.output())
    steps.push(`atrium ${args[0]} ${args.at(-1)!.startsWith('--') ? args.at(-1) : ''}: ${seconds(startedAt)}`)
    return run.output()
  }

  before(async () => {
    env.ATRIUM_DATA_DIR = await mkdtemp(join(tmpdir(), 'atrium-citus-move-'))
    const plain = await createTestDatabase()
    server = await startAtrium({ databaseUrl: plain.url, space: true, env })
    const startedAt = performance.now()
    await fill()
    await settle(plain.url)
    steps.push(`filled in ${seconds(startedAt)}`)
    const audit = await mustRun(['audit'], plain.url)
    await server.end()
    stored = await digestTables(plain.url)
    const archive = join(env.ATRIUM_DATA_DIR, 'moved.tar')
    await mustRun(['backup', archive], plain.url)
    await plain.drop()
    cluster = await startCitusCluster()
    await mustRun(['restore', archive, '--verify'], cluster.url)
    await mustRun(['restore', '--confirm-window'], cluster.url)
    await mustRun(['distribute'], cluster.url)
    moved = await digestTables(cluster.url)
    server = await startAtrium({ databaseUrl: cluster.url, space: true, env })
    audits = [audit, await mustRun(['audit'], cluster.url)]
  })

  after(async () => {
    await server?.end('SIGKILL')
    await cluster?.stop()
    await rm(env.ATRIUM_DATA_DIR, { recursive: true, force: true })
  })

  async function fill(): Promise<void> {
    for (let n = 0; n < size.tenants; n++) {
      const tenant = await makeTenant(server.origin)
      await sellCredits(server.origin, tenant.secret, 'prefund', 10_000)
      for (let c = 0; c < size.collectionsEach; c++)
        walls.push({ tenant, ...(await makeCollection(server.origin, tenant.publishable)) })
    }
    const numbers = Array.from({ length: size.items }, (_, n) => n)
    await mapConcurrently(numbers, 64, async (n) => assert.equal(await add(walls[n % walls.length]!, n), 201))
    await mapConcurrently(rooms, 16, async (secret) => {
      for (const text of ['first', 'second']) assert.equal(await say(secret, text), 200)
    })
    const payers = Array.from({ length: size.coupons }, (_, n) => walls[n % walls.length]!.tenant)
    await mapConcurrently(payers, 8, ({ secret }) => grantCoupon(server.origin, secret, 1))
  }

  /** The last answers other than 201 to additions. */
  const refused: string[] = []
  const add = async ({ id, tenant }: Wall, n: number) => {
    const body = { type: 'message', content: { text: `item ${n}` } }
    const { status, text } = await call(server.origin, `POST /v1/collections/${id}/items`, { key: tenant.publishable, body })
    if (status !== 201) refused.splice(0, Math.max(0, refused.push(`${new Date().toISOString()} ${status} ${text}`) - 5))
    return status
  }
  const say = async (secret: Secret, text: string) => {
    const body = { op: 'turn', ...secret, message: { text, client_id: randomUUID() } }
    return (await call(server.spacesOrigin, 'POST /space', { body })).status
  }

  /** Every event has its number, and every count is written. */
  async function settle(url: string): Promise<void> {
    for (const deadline = Date.now() + 120_000; ; await delay(200)) {
      const [row] = await queryDatabase<{ waiting: number }>(url, 'select count(*)::int as waiting from event_outbox')
      if (row?.waiting === 0) return
      assert.ok(Date.now() < deadline, `${row?.waiting} events have no number`)
    }
  }

  test('every row of every table is what it was', (t) => {
    for (const step of steps) t.diagnostic(step)
    for (const table of ['items', 'events', 'rooms', 'room_lines', 'ledger_transfers'])
      t.diagnostic(`${table}: ${moved[table]?.rows} rows`)
    assert.ok(moved['items']?.rows === size.items && moved['rooms']?.rows === size.rooms)
    assert.deepEqual(moved, stored)
  })

  test('the books are proved, with the same sums', (t) => {
    t.diagnostic(audits[1].trim())
    assert.equal(withoutTimes(audits[1]), withoutTimes(audits[0]))
  })

  test('the chain of each tenant’s events and of each room is unbroken', async () => {
    const events = await queryDatabase<{ tenant_id: string; sequence: string; hash: Buffer; hash_before: Buffer | null }>(
      cluster.url,
      'select tenant_id, sequence, hash, hash_before from events order by tenant_id, sequence',
    )
    assert.ok(events.length > size.items)
    for (const [i, { tenant_id: tenantId, sequence, hash_before: link }] of events.entries()) {
      const previous = events[i - 1]
      if (previous?.tenant_id !== tenantId) continue
      assert.equal(Number(sequence), Number(previous.sequence) + 1)
      assert.ok(link && previous.hash.equals(link), `${tenantId} ${sequence}`)
    }
    await mapConcurrently(rooms, 8, async ({ room }) => {
      const { text } = await askGood(server.spacesOrigin, 'POST /space', { body: { op: 'sealed', room } })
      const lines = (JSON.parse(text) as { sealed: string }).sealed.split('\n')
      assert.equal(lines.length, 3)
      assert.equal(checkChain(lines, { fromSeq: 0, etag: lineHash(lines.at(-1)!) }), undefined)
    })
  })

  test('each collection counts its items', async () => {
    await mapConcurrently(walls, 8, async ({ id, tenant }) => {
      const { data } = await askGood(server.origin, `GET /v1/collections/${id}`, { key: tenant.publishable })
      assert.equal(data.item_count, size.items / walls.length)
    })
  })

  test('while a worker is down, the 99th percentile of all others is at most twice of what it was', async (t) => {
    const port = Number(new URL(cluster.url).port) + 1
    const placed = (table: string, column: string) =>
      queryDatabase<{ value: string }>(
        cluster.url,
        `select ${column} as value from ${table} join pg_dist_shard_placement p
           on p.shardid = get_shard_id_for_distribution_column('${table === 'tenants' ? 'items' : table}', ${column})
          where p.nodeport = $1`,
        [port],
      ).then((rows) => new Set(rows.map(({ value }) => value)))
    const [downTenants, downRooms] = await Promise.all([placed('tenants', 'id'), placed('rooms', 'room')])
    const [lost, kept] = [true, false].map((down) => walls.filter(({ tenant }) => downTenants.has(tenant.id) === down))
    const [lostRooms, keptRooms] = [true, false].map((down) => rooms.filter(({ room }) => downRooms.has(room) === down))
    const pick = <T>(from: T[]) => from[Math.floor(Math.random() * from.length)]!
    const get = async ({ id, token, tenant }: Wall) =>
      (await call(server.origin, `GET /v1/collections/${id}/items?limit=20`, { key: tenant.publishable, token })).status
    const callers = (whose: string, of: Wall[], secrets: Secret[], width: number) =>
      Array.from({ length: width }, () => [
        { kind: `${whose} POST item`, pauseMs: 20, call: async () => (await add(pick(of), 0)) === 201 },
        { kind: `${whose} GET items`, pauseMs: 20, call: async () => (await get(pick(of))) === 200 },
        { kind: `${whose} turn`, pauseMs: 20, call: async () => (await say(pick(secrets), 'again')) === 200 },
      ]).flat()
    const load = startPacedLoad([...callers('other', kept!, keptRooms!, 4), ...callers('lost', lost!, lostRooms!, 2)])
    await delay(3_000)
    load.take()
    await delay(measuredMs)
    const before = load.take()
    await cluster.killWorker(1)
    await delay(measuredMs)
    const during = load.take()
    await cluster.startWorker(1)
    await delay(10_000)
    load.take()
    await delay(5_000)
    const afterwards = load.take()
    await load.stop()
    for (const [when, measured] of Object.entries({ before, during, afterwards }))
      for (const [kind, { calls, failed, p50, p99 }] of Object.entries(measured))
        t.diagnostic(`${when}, ${kind}: ${calls} calls, ${failed} failed, p50 ${p50} ms, p99 ${p99} ms`)
    for (const one of refused) t.diagnostic(one)
    for (const kind of ['other POST item', 'other GET items', 'other turn']) {
      assert.equal(during[kind]!.failed, 0, kind)
      assert.ok(during[kind]!.p99 <= 2 * before[kind]!.p99, `${kind}: ${during[kind]!.p99} ms, and ${before[kind]!.p99} before`)
    }
    for (const kind of ['lost POST item', 'lost GET items', 'lost turn']) {
      assert.ok(during[kind]!.failed > 0, kind)
      assert.equal(afterwards[kind]!.failed, 0, kind)
    }
  })
})

function seconds(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`
}

function withoutTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|\d+(\.\d+)? ?m?s\b/g, '')
}
