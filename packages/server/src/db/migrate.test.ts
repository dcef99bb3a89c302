import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, beforeEach, afterEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Connections } from '@atrium/traffic/connections'
import { Client, Pool } from 'pg'
import { StartError } from '#errors/start-error.ts'
import { passesOnce } from '#testing/busy-machine.ts'
import { createTestDatabase, type TestDatabase } from '#testing/test-database.ts'
import { untilBlocked } from '#testing/until-blocked.ts'
import { openDatabase } from './database.ts'
import { latestMigration, migrate, migrationsDone } from './migrate.ts'

let root: string
let folder: string
let database: TestDatabase
const openPool = () => openDatabase({ url: database.url, maxConnections: 10, onConnectionError: () => undefined }).pool
let pool: Connections

before(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'atrium-migrate-'))
})
after(() => rm(root, { recursive: true }))

beforeEach(async () => {
  folder = await mkdtemp(path.join(root, 'migrations-'))
  database = await createTestDatabase({ template: 'template0' })
  pool = openPool()
})
afterEach(async () => {
  await pool.end()
  await database.drop()
})

const write = (name: string, sql: string) => writeFile(path.join(folder, name), sql)
const urlAs = (username: string) => Object.assign(new URL(database.url), { username }).href
const tableExists = async (name: string) => (await pool.query('select to_regclass($1) as found', [name])).rows[0]!.found !== null

test('migrations run once each, in the order of their numbers', async () => {
  await write('0002-second.sql', 'insert into visits values (2)')
  await write('0001-first.sql', 'create table visits (n integer); insert into visits values (1);')
  await write('schema.sql', 'this is not a migration')
  assert.deepEqual(await migrate(pool, folder), { applied: ['0001-first', '0002-second'], functions: [] })
  assert.deepEqual(await migrate(pool, folder), { applied: [], functions: [] })
  await write('0003-third.sql', 'insert into visits values (3)')
  assert.deepEqual(await migrate(pool, folder), { applied: ['0003-third'], functions: [] })
  assert.deepEqual((await pool.query('select n from visits')).rows, [{ n: 1 }, { n: 2 }, { n: 3 }])
})

test('a failed migration is rolled back completely, and the previous ones stay applied', async () => {
  await write('0001-good.sql', 'create table good ()')
  await write('0002-bad.sql', 'create table half (); select 1 / 0;')
  await assert.rejects(migrate(pool, folder), /0002-bad failed: division by zero/)
  assert.equal(await tableExists('good'), true)
  assert.equal(await tableExists('half'), false)
  assert.equal(await migrationsDone(pool, folder), false)
  await write('0002-bad.sql', 'create table half ()')
  assert.deepEqual(await migrate(pool, folder), { applied: ['0002-bad'], functions: [] })
})

test('eight starts at once apply each migration once', async () => {
  await write('0001-first.sql', 'create table visits (n integer); select pg_sleep(0.1);')
  await write('0002-second.sql', 'insert into visits values (2)')
  // One pool each, as in separate processes.
  const pools = Array.from({ length: 8 }, () => openPool())
  const results = await Promise.all(pools.map((each) => migrate(each, folder)))
  await Promise.all(pools.map((each) => each.end()))
  assert.deepEqual(results.flatMap(({ applied }) => applied).toSorted(), ['0001-first', '0002-second'])
  assert.deepEqual((await pool.query('select n from visits')).rows, [{ n: 2 }])
})

test('an applied migration that was edited is refused by name', async () => {
  await write('0001-first.sql', 'create table first ()')
  await migrate(pool, folder)
  await write('0001-first.sql', 'create table first (n integer)')
  await write('0002-second.sql', 'create table second ()')
  await assert.rejects(
    migrate(pool, folder),
    (error: Error) => error instanceof StartError && /0001-first was edited/.test(error.message),
  )
  assert.equal(await tableExists('second'), false)
})

test('older code starts on a newer database while that only has more, and is refused once what it uses is gone', async () => {
  await write('0001-first.sql', 'create table first ()')
  const older = folder
  folder = await mkdtemp(path.join(root, 'newer-'))
  await write('0001-first.sql', 'create table first ()')
  await write('0002-second.sql', 'create table second ()')
  await migrate(pool, folder)
  assert.deepEqual(await migrate(pool, older), { applied: [], functions: [] })
  assert.equal(await migrationsDone(pool, older), true)
  await write('0003-third.sql', '-- contract: 0002\ndrop table first;')
  await migrate(pool, folder)
  await assert.rejects(
    migrate(pool, older),
    (error: Error) =>
      error instanceof StartError && /newer than this atrium.*0003-third.*without migration 0002/.test(error.message),
  )
  assert.equal(await migrationsDone(pool, older), true, 'one that already runs stays ready')
})

test('a database of another branch is refused: it has a migration that this code lacks, and lacks one of this code', async () => {
  await write('0001-first.sql', 'create table first ()')
  await write('0002-ours.sql', 'create table ours ()')
  const ours = folder
  folder = await mkdtemp(path.join(root, 'theirs-'))
  await write('0001-first.sql', 'create table first ()')
  await write('0003-theirs.sql', 'create table theirs ()')
  await migrate(pool, folder)
  await assert.rejects(
    migrate(pool, ours),
    (error: Error) => error instanceof StartError && /newer than this atrium.*0003-theirs/.test(error.message),
  )
  assert.equal(await tableExists('ours'), false)
})

test('a migration waits for a held lock in short tries, and lets others through between them', async () => {
  await write('0001-first.sql', 'create table busy (n integer)')
  await migrate(pool, folder)
  await write('0002-second.sql', 'alter table busy add column m integer')
  const holder = await pool.connect()
  await holder.query('begin; select from busy')
  const migrating = migrate(pool, folder)
  await untilBlocked(pool)
  await pool.query('set lock_timeout = 0; select from busy')
  await holder.query('commit')
  holder.release()
  assert.deepEqual((await migrating).applied, ['0002-second'])
})

test('a lock that is held for too long ends the migration with the processes that hold it, and nothing is applied', async (t) => {
  await write('0001-first.sql', 'create table busy (n integer)')
  await migrate(pool, folder)
  await write('0002-second.sql', 'create table half (); alter table busy add column m integer')
  // The session of another role shows neither its state nor its age.
  const [owner = '', other = ''] = ['owner', 'other'].map((name) => `${name}_${randomBytes(6).toString('hex')}`)
  await pool.query(
    `create role ${owner} login; create role ${other} login; grant all on schema public to ${owner};
     alter table busy owner to ${owner}; alter table schema_migration_checksum owner to ${owner}; grant select on busy to ${other}`,
  )
  const [own, nightly, ...short] = [owner, other, other, other, other].map(
    (user) => new Client({ connectionString: urlAs(user), application_name: user === other ? 'other' : 'own' }),
  )
  const read = (holders: (Client | undefined)[]) => Promise.all(holders.map((one) => one!.query('begin; select from busy')))
  const limited = openDatabase({ url: urlAs(owner), maxConnections: 1, onConnectionError: () => undefined })
  const connect = async () => {
    const connection = await limited.pool.connect()
    const { query } = connection
    t.mock.method(connection, 'query', async (asked: { text: string }) => {
      const rows = await query(asked)
      // Requests that hold a lock whenever somebody looks, but none of them for long.
      if (asked.text.includes('pg_locks')) {
        await Promise.all(short.map((one) => one.query('commit')))
        await read(short)
      }
      return rows
    })
    return connection
  }
  try {
    await Promise.all([own!, nightly!, ...short].map((one) => one.connect()))
    await read([own, nightly, ...short])
    const error: unknown = await migrate({ connect }, folder, [], { lockWaitMs: 1_000 }).catch((refused: unknown) => refused)
    assert.ok(error instanceof StartError)
    const { rows } = await nightly!.query<{ pid: number }>('select pg_backend_pid() as pid')
    assert.match(
      error.message,
      new RegExp(
        `0002-second.*locks in \\d tries.*on tables: process ${rows[0]!.pid} \\(role ${other}, other\\), process \\d+ \\(idle in transaction, \\d+ s, role ${owner}, own\\)\\. Wait until`,
      ),
    )
    assert.equal(await tableExists('half'), false)
  } finally {
    await Promise.all([...[own!, nightly!, ...short].map((one) => one.end()), limited.close()])
    await pool.query(`drop owned by ${owner}, ${other}; drop role ${owner}, ${other}`)
  }
})

test('a session that reads all tables, such as pg_dump, delays neither a migration nor a function', async () => {
  const functions = await mkdtemp(path.join(root, 'functions-'))
  await write('0001-first.sql', 'create table first ()')
  await writeFile(path.join(functions, 'one.sql'), one('one'))
  await migrate(pool, folder, [functions])
  await write('0002-second.sql', 'create table second ()')
  await writeFile(path.join(functions, 'two.sql'), one('two'))
  const reader = await pool.connect()
  await reader.query('begin; select from schema_migration_checksum, schema_function')
  const done = await Promise.race([migrate(pool, folder, [functions], { lockWaitMs: 1_000 }), delay(20_000)])
  await reader.query('commit')
  reader.release()
  assert.deepEqual(done, { applied: ['0002-second'], functions: ['two'] })
})

test('the columns that the first release lacks are added in short tries too, and other processes start between them', async () => {
  const functions = await mkdtemp(path.join(root, 'functions-'))
  await write('0001-first.sql', 'create table first ()')
  await writeFile(path.join(functions, 'one.sql'), one('one'))
  await migrate(pool, folder, [functions])
  await pool.query('alter table schema_migration_checksum drop contract_of; alter table schema_function drop version')
  await write('0002-second.sql', 'create table second ()')
  const reader = await pool.connect()
  for (const table of ['schema_migration_checksum', 'schema_function']) {
    await reader.query(`begin; select from ${table}`)
    const migrating = migrate(pool, folder, [functions], { lockWaitMs: 1_000 }).catch((refused: unknown) => refused)
    await untilBlocked(pool)
    await pool.query(`set lock_timeout = 0; select from ${table}`)
    const error = await migrating
    await reader.query('commit')
    assert.ok(error instanceof StartError)
    assert.match(error.message, new RegExp(`Migration of ${table} did not get its locks in 1 tries`))
    if (table === 'schema_migration_checksum') await migrate(pool, folder, [], {})
    await writeFile(path.join(functions, 'two.sql'), one('two'))
  }
  reader.release()
  assert.deepEqual(await migrate(pool, folder, [functions]), { applied: [], functions: ['two'] })
})

test('indexes are built outside a transaction; an invalid one of an interrupted build is built again', async () => {
  await write('0001-first.sql', 'create table pairs (a integer, b integer); insert into pairs values (1, 1), (1, 2);')
  await migrate(pool, folder)
  await write(
    '0002-indexes.sql',
    '-- concurrently\ncreate unique index concurrently pairs_b on pairs (b);\ncreate unique index concurrently pairs_a on pairs (a);\n',
  )
  await assert.rejects(migrate(pool, folder), /0002-indexes failed: could not create unique index/)
  const valid = async () => {
    const text = `select relname, indisvalid from pg_index join pg_class on oid = indexrelid where relname like 'pairs%' order by 1`
    return (await pool.query(text)).rows
  }
  assert.deepEqual(await valid(), [
    { relname: 'pairs_a', indisvalid: false },
    { relname: 'pairs_b', indisvalid: true },
  ])
  await pool.query('delete from pairs where b = 2')
  assert.deepEqual((await migrate(pool, folder)).applied, ['0002-indexes'])
  assert.ok((await valid()).every(({ indisvalid }) => indisvalid))
})

test('eight starts at once build an index once, and none waits for the other in vain', async () => {
  await write('0001-first.sql', 'create table pairs (a integer)')
  await write('0002-indexes.sql', '-- concurrently\ncreate index concurrently pairs_a on pairs (a);\n')
  const pools = Array.from({ length: 8 }, () => openPool())
  const results = await Promise.all(pools.map((each) => migrate(each, folder)))
  await Promise.all(pools.map((each) => each.end()))
  assert.deepEqual(results.flatMap(({ applied }) => applied).toSorted(), ['0001-first', '0002-indexes'])
})

test('a request time limit of the pool does not cut a migration short, and the pool keeps its limit', async () => {
  const limited = new Pool({ connectionString: database.url, max: 1, options: '-c statement_timeout=300ms' })
  await write('0001-slow.sql', 'select pg_sleep(0.6); create table slow ();')
  assert.deepEqual(await migrate(limited, folder), { applied: ['0001-slow'], functions: [] })
  await assert.rejects(limited.query('select pg_sleep(0.6)'), { code: '57014' })
  await limited.end()
})

test('nor do the limits that an operator has set for the database, also that of PostgreSQL 17 for a transaction', async () => {
  const name = new URL(database.url).pathname.slice(1)
  for (const limit of ['statement_timeout', 'transaction_timeout']) {
    const { rowCount } = await pool.query('select from pg_settings where name = $1', [limit])
    if (rowCount) await pool.query(`alter database ${name} set ${limit} = '300ms'`)
  }
  const limited = openPool()
  await write('0001-slow.sql', 'select pg_sleep(0.6); create table slow ();')
  assert.deepEqual(await migrate(limited, folder), { applied: ['0001-slow'], functions: [] })
  await limited.end()
})

test('nor does the limit that the pool keeps at the client', async () => {
  const limited = new Connections({ url: database.url, max: 1, answerMs: 300, onError: () => undefined })
  // On a busy machine, already opening the connection may take longer.
  await passesOnce(() => limited.query('select 1'))
  await write('0001-slow.sql', 'select pg_sleep(0.6); create table slow ();')
  assert.deepEqual(await migrate(limited, folder), { applied: ['0001-slow'], functions: [] })
  await assert.rejects(limited.query('select pg_sleep(0.6)'), /timeout|in time/)
  await limited.end()
})

test('two files with one number, and a file without one, are refused', async () => {
  await write('0001-first.sql', '')
  await write('0001-other.sql', '')
  await assert.rejects(migrate(pool, folder), /0001-first.sql and 0001-other.sql have the same number/)
  folder = await mkdtemp(path.join(root, 'unnumbered-'))
  await write('first.sql', '')
  await assert.rejects(migrate(pool, folder), /first.sql is not named NNNN-name.sql/)
})

test('migrationsDone is false before, true after, and true where there are no migrations', async () => {
  assert.equal(await latestMigration(folder), undefined)
  assert.equal(await migrationsDone(pool, folder), true)
  folder = await mkdtemp(path.join(root, 'some-'))
  await write('0001-first.sql', 'create table first ()')
  assert.equal(await latestMigration(folder), '0001-first')
  assert.equal(await migrationsDone(pool, folder), false)
  await migrate(pool, folder)
  assert.equal(await migrationsDone(pool, folder), true)
})

test('a function is created after the migrations, and again when its file has changed', async () => {
  const functions = await mkdtemp(path.join(root, 'functions-'))
  const define = (body: string) =>
    writeFile(
      path.join(functions, 'answer.sql'),
      `create or replace function answer() returns integer language sql as $$ ${body} $$;`,
    )
  const answer = async () => (await pool.query('select answer() as is')).rows[0]!.is
  await write('0001-first.sql', 'create table answers (n integer); insert into answers values (41);')
  await define('select n from answers')
  assert.deepEqual(await migrate(pool, folder, [functions]), { applied: ['0001-first'], functions: ['answer'] })
  assert.equal(await answer(), 41)
  assert.deepEqual(await migrate(pool, folder, [functions]), { applied: [], functions: [] })
  await define('select n + 1 from answers')
  assert.deepEqual(await migrate(pool, folder, [functions]), { applied: [], functions: ['answer'] })
  assert.equal(await answer(), 42)
  await define('select nothing from answers')
  await assert.rejects(migrate(pool, folder, [functions]), /SQL function answer failed: column "nothing" does not exist/)
  assert.equal(await answer(), 42, 'the previous function stays if the new one cannot be created')
})

test('older code does not put its functions back, and a newer file that reverts one is applied', async () => {
  const functions = await mkdtemp(path.join(root, 'functions-'))
  const release = async (version: number, is: number) => {
    const versions = await mkdtemp(path.join(root, 'release-'))
    await writeFile(path.join(versions, 'functions.json'), JSON.stringify({ answer: { version, sha256: '' } }))
    return async () => {
      const sql = `create or replace function answer() returns integer language sql as $$ select ${is} $$;`
      await writeFile(path.join(functions, 'answer.sql'), sql)
      return (await migrate(pool, versions, [functions])).functions
    }
  }
  const answer = async () => (await pool.query('select answer() as is')).rows[0]!.is
  const [first, second, reverting] = [await release(1, 41), await release(2, 42), await release(3, 41)]
  assert.deepEqual(await first(), ['answer'])
  assert.deepEqual(await second(), ['answer'])
  assert.deepEqual(await first(), [], 'a restart of the previous release during the upgrade')
  assert.equal(await answer(), 42)
  assert.deepEqual(await reverting(), ['answer'])
  assert.equal(await answer(), 41)
  await pool.query('drop function answer()')
  assert.deepEqual(await second(), [], 'a newer release dropped it')
})

test('chain_outbox is created where version 2 was applied, which had other parameters', async (t) => {
  const migrated = await createTestDatabase()
  const other = openDatabase({ url: migrated.url, maxConnections: 2, onConnectionError: () => undefined }).pool
  t.after(() => other.end().then(() => migrated.drop()))
  const signature = 'chain_outbox(text[], bigint[], bytea[], smallint[], bigint[], integer[], bytea, boolean[])'
  await other.query(`drop function ${signature}`)
  await other.query(`create function chain_outbox() returns integer language sql as $$ select 2 $$`)
  await other.query(`update schema_function set version = 2, sha256 = 'of version 2' where name = 'chain-outbox'`)
  assert.deepEqual((await migrate(other)).functions, ['chain-outbox'])
  assert.equal((await other.query('select to_regprocedure($1) is null as is', [signature])).rows[0]!.is, false)
})

test('a function that was dropped by hand is there again after the next start', async () => {
  const functions = await mkdtemp(path.join(root, 'functions-'))
  await writeFile(path.join(functions, 'the-answer.sql'), one('the_answer'))
  await migrate(pool, folder, [functions])
  await pool.query('drop function the_answer()')
  assert.deepEqual(await migrate(pool, folder, [functions]), { applied: [], functions: ['the-answer'] })
  assert.equal((await pool.query('select the_answer() as is')).rows[0]!.is, 1)
})

test('two files for functions of one name are refused before any of them runs', async () => {
  const folders = await Promise.all([1, 2].map(() => mkdtemp(path.join(root, 'functions-'))))
  for (const each of folders) await writeFile(path.join(each, 'the-answer.sql'), one('the_answer'))
  await assert.rejects(
    migrate(pool, folder, folders),
    (error: Error) => error instanceof StartError && /two files the-answer\.sql/.test(error.message),
  )
  assert.equal((await pool.query("select count(*)::int from pg_proc where proname = 'the_answer'")).rows[0]!.count, 0)
})

test('a connection that is lost while functions are created is reported, and no function is half created', async () => {
  const functions = await mkdtemp(path.join(root, 'functions-'))
  const ended = 'select pg_terminate_backend(pg_backend_pid());'
  await writeFile(path.join(functions, 'one.sql'), one('one'))
  await writeFile(path.join(functions, 'two.sql'), ended)
  await assert.rejects(migrate(pool, folder, [functions]), /SQL function two failed: terminating connection/)
  await writeFile(path.join(functions, 'two.sql'), one('two'))
  assert.deepEqual((await migrate(pool, folder, [functions])).functions, ['one', 'two'])
})

test('eight starts at once create each function once', async () => {
  const functions = await mkdtemp(path.join(root, 'functions-'))
  for (const name of ['one', 'two']) await writeFile(path.join(functions, `${name}.sql`), `select pg_sleep(0.05); ${one(name)}`)
  const pools = Array.from({ length: 8 }, () => openPool())
  const results = await Promise.all(pools.map((each) => migrate(each, folder, [functions])))
  await Promise.all(pools.map((each) => each.end()))
  assert.deepEqual(results.flatMap(({ functions: made }) => made).toSorted(), ['one', 'two'])
})

function one(name: string): string {
  return `create or replace function ${name}() returns integer language sql as $$ select 1 $$;`
}
