import assert from 'node:assert/strict'
import { before, test, type TestContext } from 'node:test'
import { Connections, type ConnectionsOptions } from '../connections.ts'
import { isPassing } from '../database-errors.ts'
import { timeouts } from '../timeouts.ts'
import { assertAddresses } from './assert-addresses.ts'
import { Connection } from './connection.ts'
import { readDatabaseAddress } from './database-address.ts'
import { open, serverUrl } from './testing/fake-server.ts'
import { pgBouncerKeepsNames, skipWithoutPgBouncer, startPgBouncer, type PgBouncer } from './testing/start-pgbouncer.ts'

const database = readDatabaseAddress(serverUrl).database
const skip = skipWithoutPgBouncer
const names = pgBouncerKeepsNames ? 'max_prepared_statements = 100' : ''

async function startPooler(t: Pick<TestContext, 'after'>, settings: string): Promise<PgBouncer> {
  const pooler = await startPgBouncer({ serverUrl, settings })
  t.after(() => pooler.stop())
  return pooler
}

function openConnections(t: TestContext, url: string, options: Partial<ConnectionsOptions> = {}): Connections {
  const connections = new Connections({ url, max: 8, isPooled: true, onError: () => undefined, ...options })
  t.after(() => connections.end())
  return connections
}

const asTimeouts = {
  timezone: 'UTC',
  statement_timeout: `${timeouts.statementMs / 1_000}s`,
  lock_timeout: `${timeouts.lockMs}ms`,
  idle_in_transaction_session_timeout: `${timeouts.idleTransactionMs / 1_000}s`,
}
const readSettings = `select ${Object.keys(asTimeouts).map((name) => `current_setting('${name}') as ${name}`)}`

test('PostgreSQL gives each connection its own session', async () => {
  await assertAddresses({ url: serverUrl })
  await assertAddresses({ url: serverUrl, directUrl: serverUrl })
})

test('the error names the variable and what is wrong with the address', async () => {
  const wrong = {
    'postgresql://u@127.0.0.1:1/x': /: the database cannot be used: .*ECONNREFUSED/,
    'postgresql://u@one,two/x': /several hosts/,
    'mysql://x': /not a postgresql/,
  }
  for (const [url, reason] of Object.entries(wrong)) {
    await assert.rejects(assertAddresses({ url }), reason)
    await assert.rejects(assertAddresses({ url }), /^Error: DATABASE_URL: /)
    await assert.rejects(assertAddresses({ url: serverUrl, directUrl: url }), /^Error: DATABASE_DIRECT_URL: /)
  }
})

test('two addresses of different databases are refused', async () => {
  const url = new URL(serverUrl)
  url.pathname = '/template1'
  await assert.rejects(assertAddresses({ url: serverUrl, directUrl: url.href }), /lead to two databases/)
})

test('a pooler in session mode is as good as a direct connection, also where it leaves out options', { skip }, async (t) => {
  for (const settings of ['pool_mode = session', 'pool_mode = session\nignore_startup_parameters = options']) {
    const url = (await startPooler(t, settings)).urlOf('postgres')
    await assertAddresses({ url })
    const connections = openConnections(t, url, { max: 3, isPooled: false })
    const answers = await Promise.all(Array.from({ length: 20 }, () => connections.query(readSettings)))
    for (const { rows } of answers) assert.deepEqual(rows, [asTimeouts])
  }
})

test('in transaction mode', { skip }, async (t) => {
  let url: string
  before(async () => {
    const pooler = await startPooler(t, `pool_mode = transaction\ndefault_pool_size = 4\n${names}`)
    url = pooler.urlOf(database)
  })

  await t.test('the pooler needs a direct address, which leads past it', async () => {
    await assert.rejects(assertAddresses({ url }), /shares its sessions.*set DATABASE_DIRECT_URL/)
    await assert.rejects(
      assertAddresses({ url: serverUrl, directUrl: url }),
      /^Error: DATABASE_DIRECT_URL: .*shares its sessions/,
    )
    await assertAddresses({ url, directUrl: serverUrl })
  })

  await t.test('a busy pooler does not pass for PostgreSQL', async (t) => {
    const others = openConnections(t, url)
    let isOver = false
    const busy = [1, 2, 3].map(async () => {
      while (!isOver) await others.query('select pg_sleep(0.001)')
    })
    for (let i = 0; i < 5; i++) await assert.rejects(assertAddresses({ url }), /shares its sessions/)
    isOver = true
    await Promise.all(busy)
  })

  await t.test('each statement and each transaction has its own settings, and leaves none behind', async (t) => {
    const stranger = await Connection.open({ url, connectMs: 5_000, answerMs: 5_000 })
    t.after(() => stranger.end())
    const { rows: before } = await stranger.query(readSettings)
    const connections = openConnections(t, url)
    const long = openConnections(t, url, { max: 2, answerMs: 600_000 })
    const read = async (n: number) => {
      const { rows } = await connections.query(`${readSettings}, $1::int as n`, [n])
      assert.deepEqual(rows, [{ ...asTimeouts, n: String(n) }])
      assert.deepEqual((await connections.query(readSettings)).rows, [asTimeouts])
      assert.equal((await long.query(readSettings)).rows[0]!['statement_timeout'], '500s')
    }
    const transact = async () => {
      const connection = await connections.connect()
      try {
        await connection.query('begin; set local lock_timeout = 70')
        assert.deepEqual((await connection.query(readSettings)).rows, [{ ...asTimeouts, lock_timeout: '70ms' }])
        assert.equal((await connection.query('commit')).command, 'COMMIT')
      } finally {
        connection.release()
      }
    }
    await Promise.all(Array.from({ length: 30 }, (_, n) => [read(n), transact()]).flat())
    for (let i = 0; i < 8; i++) assert.deepEqual((await stranger.query(readSettings)).rows, before)
  })

  await t.test('PostgreSQL ends a statement that takes too long', async (t) => {
    const connections = openConnections(t, url, { answerMs: 3_000 })
    const startedAt = performance.now()
    await Promise.all([
      assert.rejects(connections.query('select pg_sleep(20)'), { code: '57014' }),
      assert.rejects(connections.query('select pg_sleep($1)', [20]), { code: '57014' }),
    ])
    assert.ok(performance.now() - startedAt < 15_000)
  })

  await t.test('named statements reach the session that has them, or are sent without a name', async (t) => {
    const connections = openConnections(t, url)
    const run = async (n: number) => {
      const connection = await connections.acquire('statement')
      const query = { name: `pooled-${n % 5}`, text: `select $1::int + ${n % 5} as sum`, values: [n] }
      const { rows } = await connection.query(query).finally(() => connections.release(connection))
      assert.deepEqual(rows, [{ sum: String(n + (n % 5)) }])
    }
    await Promise.all(Array.from({ length: 200 }, (_, n) => run(n)))
    const { rows } = await connections.query('select name from pg_prepared_statements')
    assert.equal(rows.length > 0, pgBouncerKeepsNames)
    assert.ok(rows.every(({ name }) => String(name).startsWith('PGBOUNCER_')))
  })

  await t.test('an error ends one statement, not the connection', async (t) => {
    const connections = openConnections(t, url, { max: 1 })
    for (const values of [undefined, [0]])
      await assert.rejects(connections.query(values ? 'select 1 / $1::int' : 'select 1 / 0', values), { code: '22012' })
    assert.deepEqual((await connections.query('select $1::int as n', [1])).rows, [{ n: '1' }])
    assert.equal(connections.totalCount, 1)
  })

  await t.test(
    'outdated plans in the sessions of a pooler do not fail a statement for long',
    {
      skip: pgBouncerKeepsNames ? false : 'needs PgBouncer 1.21 or newer, which keeps prepared statements',
    },
    async (t) => {
      const connections = openConnections(t, url)
      await connections.query('create table outdated (n int)')
      const read = async () => {
        const connection = await connections.acquire('statement')
        try {
          return await connection.query({ name: 'outdated', text: 'select * from outdated' })
        } finally {
          connections.release(connection)
        }
      }
      await Promise.all(Array.from({ length: 40 }, read))
      await connections.query('alter table outdated add column m int')
      const outcomes = await Promise.allSettled(Array.from({ length: 40 }, read))
      for (const outcome of outcomes) assert.ok(outcome.status === 'fulfilled' || isPassing(outcome.reason))
      for (let i = 0; i < 40; i++) await read()
      await connections.query('drop table outdated')
    },
  )
})

test('a statement whose name is taken fails as passing, and its connection is not used again', async () => {
  const connection = await open()
  await connection.query('prepare taken as select 1')
  await assert.rejects(
    connection.query({ name: 'taken', text: 'select 2' }),
    (error: { code: string }) => error.code === '42P05' && isPassing(error),
  )
  assert.deepEqual([connection.isOpen, connection.isIdle], [true, false])
})

test('one standby among several connections is left by all', async () => {
  const connections = new Connections({ url: serverUrl, max: 3, onError: () => assert.fail('nothing idle breaks') })
  await Promise.all([1, 2, 3].map(() => connections.query('select 1')))
  assert.equal(connections.idleCount, 3)
  const write = 'begin read only; create table refused (n int)'
  const connection = await connections.acquire('statement')
  await assert.rejects(connection.query(write), (error: { code: string }) => error.code === '25006' && isPassing(error))
  connections.release(connection)
  assert.equal(connections.totalCount, 0)
  await connections.query('select 1')
  await connections.end()
})
