import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { checkChain, lineHash } from '../../packages/sealing/src/node-lines.ts'
import { migrationsFolder, readMigrationFiles } from '../../packages/server/src/db/migration-files.ts'
import { findPending, listApplied } from '../../packages/server/src/db/schema-state.ts'
import { distribute } from '../../packages/server/src/features/distribution/distribute.ts'
import { untilServed } from '../../packages/server/testing/http.ts'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { untilBlocked } from '../../packages/server/testing/until-blocked.ts'
import type { RoomHead } from '../../packages/space/src/rooms/head.ts'
import { appendLines, listHeads, listLinesWithin } from '../../packages/space/src/rooms/store.ts'
import { ConnectionLost } from '../../packages/traffic/src/database-errors.ts'
import { adminToken, startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import {
  askGood,
  call as ask,
  callUntilServed,
  makeCollection,
  makeTenant,
  type TestCollection,
  type TestTenant,
} from '../support/call-api.ts'
import { assertOneShard, listRemoteCommands } from '../support/citus-plans.ts'
import { skipWithoutCitus, startCitusCluster, type CitusCluster } from '../support/citus-cluster.ts'
import { fundIssuer } from '../support/fund-issuer.ts'
import { listItemStatements } from '../support/item-statements.ts'
import { queryDatabase } from '../support/query-database.ts'
import { readSpread } from '../support/read-spread.ts'
import { recordQueries } from '../support/record-queries.ts'
import { runAcceptance } from '../support/run-acceptance.ts'
import { runAtrium } from '../support/run-atrium.ts'

/** The same for both databases, as it must be: the archive has no keys. */
const env = {
  ATRIUM_DATA_DIR: '',
  ATRIUM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  ATRIUM_ADMIN_TOKEN: adminToken,
  ATRIUM_RATE_LIMIT: '50',
}

async function atrium(args: string[], databaseUrl: string, more: Record<string, string> = {}): Promise<[number, string]> {
  const run = runAtrium(args, { ...env, DATABASE_URL: databaseUrl, ...more })
  const code = await run.ended(60_000)
  return [code ?? -1, run.output()]
}

async function mustRun(args: string[], databaseUrl: string, more: Record<string, string> = {}): Promise<string> {
  const [code, output] = await atrium(args, databaseUrl, more)
  assert.equal(code, 0, output)
  return output
}

before(async () => {
  env.ATRIUM_DATA_DIR = await mkdtemp(join(tmpdir(), 'atrium-citus-test-'))
})
after(() => rm(env.ATRIUM_DATA_DIR, { recursive: true, force: true }))

test('atrium distribute refuses a PostgreSQL without Citus, and changes nothing', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const [code, output] = await atrium(['distribute'], database.url)
  assert.equal(code, 1)
  assert.match(output, /^atrium: the database has no Citus, so there are no nodes to spread it over: nothing was changed/)
})

interface Secret {
  room: string
  mk: string
}

/** A collection and its tenant. */
interface Wall extends TestCollection {
  tenant: TestTenant
}

describe('on a Citus cluster', { skip: skipWithoutCitus, timeout: 240_000 }, () => {
  const old = Array.from({ length: 40 }, fresh)
  const gone = fresh()
  /** Of a tenant each: they are on both workers. */
  const walls: Wall[] = []
  let cluster: CitusCluster
  let server: AtriumProcess
  let db: pg.Pool
  let distributed: string
  let repeated: string
  let stored: unknown
  let spread: unknown

  // An installation on one PostgreSQL moves to the cluster, as docs/operating/distribute.md says.
  before(async () => {
    const plain = await createTestDatabase()
    server = await startAtrium({ databaseUrl: plain.url, space: true, env })
    const { secret } = await makeTenant(server.origin)
    await fundIssuer(server.origin, secret, 500)
    for (const one of old) assert.equal((await say(one, 'before')).status, 200)
    assert.equal((await say(gone, 'before')).status, 200)
    await queryDatabase(plain.url, 'select remove_room($1)', [gone.room])
    for (let n = 0; n < 16; n++) {
      const tenant = await makeTenant(server.origin)
      walls.push({ tenant, ...(await makeCollection(server.origin, tenant.publishable)) })
    }
    for (const wall of walls) for (const content of ['a', 'b']) assert.equal((await add(wall, content)).status, 201)
    await server.end()
    stored = await readSpread(plain.url)
    const archive = join(env.ATRIUM_DATA_DIR, 'moved.tar')
    await mustRun(['backup', archive], plain.url)
    await plain.drop()

    cluster = await startCitusCluster()
    await mustRun(['restore', archive, '--verify'], cluster.url)
    await mustRun(['restore', '--confirm-window'], cluster.url)
    db = new pg.Pool({ connectionString: cluster.url, max: 2, application_name: 'a script' })
    // A worker that is killed ends the idle connections to it.
    db.on('error', () => undefined)
    // A role that is no superuser sees less of the sessions of others.
    await db.query('create role plain login; grant select on schema_migration_checksum, schema_function to plain')
    const plainUrl = cluster.url.replace('//postgres@', '//plain@')
    const connected = await db.connect()
    const other = new pg.Client({ connectionString: plainUrl, application_name: 'another' })
    await other.connect()
    const [refused, reason] = await atrium(['distribute'], plainUrl)
    await other.end()
    connected.release(true)
    assert.match(reason, /other programs are connected to the database \(a script, another\)/)
    assert.equal(refused, 1)
    distributed = await distributeWhile(assertNoStart)
    // Now it moves nothing. The answer to its first commit is lost.
    const asker = await db.connect()
    const query = async (text: string, values: unknown[]) => {
      const result = await asker.query(text, values)
      if (text === 'commit') throw new ConnectionLost('cut')
      return result
    }
    const uncertain = distribute({ query }, () => undefined)
    await assert.rejects(uncertain, {
      message:
        'the commit got no answer (cut), so it is not known whether the tables of rooms were moved: run atrium distribute again',
    })
    asker.release(true)
    repeated = await mustRun(['distribute'], cluster.url)
    spread = await readSpread(cluster.url)
    server = await startAtrium({ databaseUrl: cluster.url, space: true, env })
  })

  after(async () => {
    await server?.end('SIGKILL')
    await db?.end()
    await cluster?.stop()
  })

  /** Runs `work` after the command has looked for other programs, and before it has moved a table. */
  async function distributeWhile(work: () => Promise<void>): Promise<string> {
    // As Citus' own sessions, these do not count as programs.
    const own = new pg.Pool({ connectionString: cluster.url, max: 2, application_name: 'citus_test' })
    const holder = await own.connect()
    await holder.query('begin; lock table rooms in access share mode')
    const running = atrium(['distribute'], cluster.url)
    try {
      await untilBlocked(own)
      await work()
    } finally {
      await holder.query('commit')
      holder.release()
      await own.end()
    }
    const [code, output] = await running
    assert.equal(code, 0, output)
    return output
  }

  /** A process would believe for as long as it runs that nothing is spread. */
  async function assertNoStart(): Promise<void> {
    const starts = ['api', 'space'].map((command) => atrium([command], cluster.url, { PORT: '0', SPACE_PORT: '0' }))
    for (const [code, output] of await Promise.all(starts)) {
      assert.match(output, /atrium distribute is moving tables of this database: start again when it has ended/)
      assert.equal(code, 1)
    }
  }

  async function call(op: string, fields: object) {
    const res = await fetch(`${server.spacesOrigin}/space`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ op, ...fields }),
    })
    return { status: res.status, headers: res.headers, body: (await res.json()) as any }
  }
  const add = ({ id, tenant }: Wall, content: unknown) =>
    ask(server.origin, `POST /v1/collections/${id}/items`, { key: tenant.publishable, body: { type: 'message', content } })
  async function itemsOf({ id, token, tenant }: Wall): Promise<unknown[]> {
    const { data } = await askGood(server.origin, `GET /v1/collections/${id}/items`, { key: tenant.publishable, token })
    return data.items.map(({ content }) => content)
  }
  const say = (secret: Secret, text: string) => call('turn', { ...secret, message: { text, client_id: text } })

  async function textsOf(secret: Secret): Promise<string[]> {
    const { body } = await call('poll', secret)
    return body.entries.flatMap(({ message }: { message?: { text: string } }) => (message ? [message.text] : []))
  }

  test('it reports each table with its rows, and changes none of them', async () => {
    assert.match(distributed, /^rooms: 40 rows, spread by room over 16 shards$/m)
    assert.match(distributed, /^room_lines: 80 rows, spread by room over 16 shards$/m)
    assert.match(distributed, /^removed_rooms: 1 rows, spread by room over 16 shards$/m)
    assert.match(distributed, /^items: 32 rows, spread by tenant_id over 16 shards$/m)
    assert.match(distributed, /^On the coordinator \(the books: .*ledger_accounts/m)
    assert.match(distributed, /^events: \d+ rows, spread by tenant_id over 16 shards$/m)
    assert.deepEqual(spread, stored)
    for (const secret of old) assert.deepEqual(await textsOf(secret), ['before'])
    assert.equal((await say(gone, 'late')).status, 404)
    for (const wall of walls) assert.deepEqual(await itemsOf(wall), ['a', 'b'])
  })

  test('the books are proved, as before', async () => {
    const output = await mustRun(['audit'], cluster.url, { ATRIUM_PUBLIC_URL: server.origin })
    assert.match(output, /500/)
  })

  test('older code is refused from then on: it would write batches over several shards', async () => {
    const [files, applied] = [await readMigrationFiles(migrationsFolder), await listApplied(db)]
    assert.deepEqual(findPending(applied, files), [])
    assert.throws(() => findPending(applied, files.slice(0, -1)), /newer than this atrium/)
  })

  test('it can be repeated, and then has nothing to do', () => {
    assert.match(repeated, /^rooms: spread already$/m)
    assert.doesNotMatch(repeated, /rows, spread by/)
  })

  test('the black-box acceptance passes', async () => {
    await runAcceptance(server.origin, () => server.output())
  })

  test('turns in rooms of all shards at once are all written, and each chain is unbroken', async () => {
    const rooms = Array.from({ length: 64 }, fresh)
    // A busy machine refuses some, and a repeat has the same client_id.
    const answers = await Promise.all(
      rooms.flatMap((secret) => ['a', 'b', 'c'].map((text) => untilServed(() => say(secret, text)))),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    for (const secret of rooms) {
      assert.deepEqual((await textsOf(secret)).toSorted(), ['a', 'b', 'c'])
      const { body } = await call('sealed', { room: secret.room })
      const lines: string[] = body.sealed.split('\n')
      assert.equal(checkChain(lines, { fromSeq: 0, etag: lineHash(lines.at(-1)!) }), undefined)
    }
  })

  test('a poll that waits ends with the news', async () => {
    const secret = fresh()
    await say(secret, 'first')
    const { etag: sinceEtag, count: sinceCount } = (await call('poll', secret)).body
    const waiting = call('poll', { ...secret, sinceEtag, sinceCount, waitMs: 20_000 })
    await delay(300)
    const startedAt = performance.now()
    await say(secret, 'second')
    assert.equal((await waiting).status, 200)
    assert.ok(performance.now() - startedAt < 5_000, 'the wait was not over')
  })

  test('items of tenants of all shards at once are all added, in their order and counted', async () => {
    const [first] = walls
    // A busy machine refuses some.
    const addServed = ({ id, tenant }: Wall, content: number) =>
      callUntilServed(server.origin, `POST /v1/collections/${id}/items`, {
        key: tenant.publishable,
        idempotencyKey: randomUUID(),
        body: { type: 'message', content },
      })
    const answers = await Promise.all(walls.flatMap((wall) => [1, 2, 3].map((content) => addServed(wall, content))))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
    for (const wall of walls) {
      assert.deepEqual(new Set(await itemsOf(wall)), new Set(['a', 'b', 1, 2, 3]))
      const { data } = await ask(server.origin, `GET /v1/collections/${wall.id}`, { key: wall.tenant.publishable })
      assert.equal(data.item_count, 5)
    }
    const { rows } = await db.query('select seq::int from items where tenant_id = $1 order by seq', [first!.tenant.id])
    assert.deepEqual(
      rows.map(({ seq }) => seq),
      [1, 2, 3, 4, 5],
    )
  })

  test('a deleted collection leaves no item', async () => {
    const { tenant } = walls[0]!
    const wall = { tenant, ...(await makeCollection(server.origin, tenant.publishable)) }
    assert.equal((await add(wall, 'x')).status, 201)
    const { status } = await ask(server.origin, `DELETE /v1/collections/${wall.id}`, {
      key: tenant.publishable,
      token: wall.token,
    })
    const { rows } = await db.query('select count(*)::int as left from items where collection_id = $1', [wall.id])
    assert.deepEqual([status, rows[0].left], [204, 0])
  })

  test('a transaction that changes an item is committed on both nodes or on none', async () => {
    const { id, tenant } = walls[0]!
    const commands = await listRemoteCommands(db, [
      ['update items set approved = approved where tenant_id = $1 and collection_id = $2', [tenant.id, id]],
      ["insert into event_outbox (tenant_id, id, type, data) values ($1, 'evt_1', 'item.updated', '{}')", [tenant.id]],
    ])
    assert.match(commands.join('\n'), /PREPARE TRANSACTION[^]*COMMIT PREPARED/)
  })

  test('each statement of a collection’s items goes to one shard', async () => {
    const { id, tenant } = walls[0]!
    const statements = await listItemStatements(tenant.id, id)
    assert.ok(statements.length > 20)
    for (const one of statements) await assertOneShard(db, one)
  })

  test('each statement of a turn and of a poll goes to one shard', async () => {
    const head: RoomHead = {
      room: old[0]!.room,
      count: 2,
      etag: 'another',
      bytes: 1,
      policySeq: 0,
      policyHash: 'x',
      policyLine: '',
      accessKey: undefined,
    }
    const statements = await recordQueries(async (recorder) => {
      await listHeads(recorder, [head.room])
      await listLinesWithin(recorder, head.room, { fromSeq: 0, toSeq: 2, bytes: 1_000, atLeast: 1 })
      await appendLines(recorder, [{ from: head, to: { ...head, count: 3 }, lines: [{ seq: 2, line: 'x', dedupe: 'd' }] }], true)
    })
    assert.equal(statements.length, 3)
    for (const one of statements) await assertOneShard(db, one)
  })

  test('a removed room is gone, its name is not used again, and the total has its bytes no more', async () => {
    const secret = fresh()
    await say(secret, 'x')
    const { rows } = await db.query('select bytes::int from rooms where room = $1', [secret.room])
    const client = await db.connect()
    try {
      // In one transaction, because the service may add what was written before.
      await client.query('begin')
      await client.query('update space_total set bytes = 1000000')
      await client.query('select remove_room($1)', [secret.room])
      const { rows: total } = await client.query('select bytes::int from space_total')
      assert.equal(total[0].bytes, 1_000_000 - rows[0].bytes)
      await client.query('commit')
    } finally {
      client.release(true)
    }
    // The services read the end of a room again when an append does not fit.
    assert.deepEqual(
      [(await say(secret, 'late')).status, (await call('create', { ...secret, policy: 'open' })).status],
      [404, 409],
    )
    const { rows: left } = await db.query(
      'select (select count(*)::int from rooms where room = $1) + (select count(*)::int from room_lines where room = $1) as left',
      [secret.room],
    )
    assert.equal(left[0].left, 0)
  })

  test('the sweep removes a room that was never used, and keeps its name', async () => {
    const [unused, used] = [fresh(), fresh()]
    for (const secret of [unused, used]) assert.equal((await call('create', { ...secret, policy: 'open' })).status, 200)
    await say(used, 'x')
    await db.query('update new_rooms set made_on = made_on - 8 where room = any ($1)', [[unused.room, used.room]])
    assert.equal((await db.query('select sweep_space(7, 100) as looked')).rows[0].looked, 2)
    assert.equal((await call('create', { ...unused, policy: 'open' })).status, 409)
    assert.deepEqual(await textsOf(used), ['x'])
  })

  test('a backup is refused: it would not be one snapshot of all nodes', async () => {
    const [code, output] = await atrium(['backup', '/nonexistent/backup.tar'], cluster.url)
    assert.equal(code, 1)
    assert.match(output, /spread over the nodes of a Citus cluster/)
  })

  test('while a worker is down, its rooms and items answer 503 and all others go on; afterwards all answer again', async () => {
    const port = Number(new URL(cluster.url).port) + 1
    const { rows } = await db.query<{ room: string; down: boolean }>(
      `select r.room, p.nodeport = $1 as down from rooms r
         join pg_dist_shard_placement p on p.shardid = get_shard_id_for_distribution_column('rooms', r.room)`,
      [port],
    )
    const downs = new Set(rows.filter(({ down }) => down).map(({ room }) => room))
    const [lost, kept] = [old.find(({ room }) => downs.has(room))!, old.find(({ room }) => !downs.has(room))!]
    const { rows: places } = await db.query<{ id: string; down: boolean }>(
      `select t.id, p.nodeport = $1 as down from tenants t
         join pg_dist_shard_placement p on p.shardid = get_shard_id_for_distribution_column('items', t.id)`,
      [port],
    )
    const isDown = new Map(places.map(({ id, down }) => [id, down]))
    const lostWalls = walls.filter(({ tenant }) => isDown.get(tenant.id))
    const keptWalls = walls.filter(({ tenant }) => !isDown.get(tenant.id))
    await cluster.killWorker(1)
    try {
      const added = await Promise.all([...lostWalls, ...keptWalls].map((wall) => add(wall, 'while down')))
      assert.deepEqual(
        added.map(({ status }) => status),
        [...lostWalls.map(() => 503), ...keptWalls.map(() => 201)],
      )
      for (const { id, tenant } of walls) await askGood(server.origin, `GET /v1/collections/${id}`, { key: tenant.publishable })
      assert.equal((await say(lost, 'while down')).status, 503)
      for (let n = 0; n < 20; n++) {
        const { status, body } = await say(kept, `while down ${n}`)
        assert.equal(status, 200, `${JSON.stringify(body)}\n${server.output().slice(-2_000)}`)
      }
    } finally {
      await cluster.startWorker(1)
    }
    for (const deadline = Date.now() + 15_000; (await say(lost, 'again')).status !== 200; await delay(200))
      assert.ok(Date.now() < deadline, 'its rooms do not answer again')
    for (const wall of lostWalls) {
      // Each connection of the server may still find that one of the coordinator's to the worker was lost.
      for (const deadline = Date.now() + 15_000; (await add(wall, 'again')).status !== 201; await delay(200))
        assert.ok(Date.now() < deadline, 'its items do not answer again')
      const items = await itemsOf(wall)
      assert.ok(!items.includes('while down') && items.includes('again'))
    }
    assert.ok((await textsOf(lost)).includes('again'))
  })
})

function fresh(): Secret {
  return { room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') }
}
