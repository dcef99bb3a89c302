import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { ConnectionLost } from '../database-errors.ts'
import { open, serverUrl } from './testing/fake-server.ts'

const isLost = (error: unknown) => error instanceof ConnectionLost

async function openOracle(t: { after(end: () => Promise<void>): void }): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: serverUrl, types: { getTypeParser: () => (text: string) => text } })
  await client.connect()
  t.after(() => client.end())
  return client
}

test('parameters and columns are those of pg', async (t) => {
  const [oracle, connection] = [await openOracle(t), await open()]
  const cases: [string, unknown[]][] = [
    ['select $1::text as a, $2::int as b, $3::bool as c, $4::float8 as d', ['it\'s "ü" \\ 🎈', -7, true, 1.5]],
    ['select $1::text as a, $2::text as b, $3::text as "a b"', [null, undefined, '']],
    ['select $1::bytea as a, $2::bytea as b', [Buffer.from([0, 255]), new Uint8Array([1, 2, 3]).subarray(1)]],
    ['select $1::text[] as a', [['plain', '', 'NULL', null, 'a,b', '{"x"}', '\\', 'two\nlines']]],
    [
      'select $1::int[] as a, $2::text[] as b',
      [
        [
          [1, 2],
          [3, null],
        ],
        [],
      ],
    ],
    ['select $1::bytea[] as a', [[Buffer.from('\\"'), new Uint8Array([7])]]],
    ['select $1::jsonb as a, $2::json[] as b', [{ a: ['b', 1, null] }, [{ c: '"' }, { d: '\\' }]]],
    ['select $1::bigint as a, $2::numeric as b', [9_007_199_254_740_993n, '1.10']],
    ["select ($1::timestamptz at time zone 'UTC')::text as a", [new Date('2026-11-20T09:30:00.123Z')]],
    ['select where false', [1].slice(1)],
    ['select generate_series(1, 3) as n', []],
    ['select 1 as same, 2 as same', []],
  ]
  for (const [text, values] of cases) {
    const expected = await oracle.query<object>(text, values)
    const { rows, rowCount, command } = await connection.query<object>(text, values)
    assert.deepEqual({ rows, rowCount, command }, { rows: expected.rows, rowCount: expected.rowCount, command: expected.command })
  }
})

test('counts and command tags are those of pg', async (t) => {
  const [oracle, connection] = [await openOracle(t), await open()]
  const statements = ['begin', 'create temp table t (n int)', 'insert into t values (1), (2)', 'update t set n = 3', 'commit', '']
  for (const text of statements) {
    const expected = await oracle.query<object>(text)
    const { rows, rowCount, command } = await connection.query<object>(text)
    assert.deepEqual([rows, rowCount, command ?? null], [expected.rows, expected.rowCount, expected.command])
  }
})

test('of several statements in one query the last gives the result', async () => {
  const connection = await open()
  assert.deepEqual(await connection.query('select 1 as n; select 2 as n'), { rows: [{ n: '2' }], rowCount: 1, command: 'SELECT' })
  assert.deepEqual(await connection.query('select 1 as n; reset all'), { rows: [], rowCount: null, command: 'RESET' })
  await assert.rejects(connection.query('select 1; select 1 / 0; select 2'), { code: '22012' })
})

test('an error has the fields that pg gives it, and leaves the connection usable', async (t) => {
  const [oracle, connection] = [await openOracle(t), await open()]
  const make = 'create temp table t (n int constraint positive check (n > 0))'
  const bad = ['insert into t values (-1)', 'select * from nowhere', 'syntax error', "select 'x'::int"]
  await Promise.all([oracle.query(make), connection.query(make)])
  // The schema of a temporary table differs by connection. pg also has fields that the server did not send.
  const describe = ({ message, ...fields }: pg.DatabaseError) =>
    Object.entries({ ...fields, message, length: 0, schema: '' })
      .filter(([, value]) => value !== undefined)
      .sort()
  for (const text of bad) {
    const expected: unknown = await oracle.query(text).catch(describe)
    assert.deepEqual(await connection.query(text).catch(describe), expected)
  }
  const { stack } = (await connection.query('select 1 / 0').catch((error: Error) => error)) as Error
  assert.match(stack!, /connection\.test\.ts/, 'the stack leads to the query')
})

test('queries that are sent at once are answered in order, each with its own outcome', async () => {
  const connection = await open()
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, i) => connection.query<{ n: string }>('select 100 / $1::int as n', [i % 7 === 3 ? 0 : i + 1])),
  )
  outcomes.forEach((outcome, i) => {
    if (i % 7 === 3) assert.equal(outcome.status, 'rejected')
    else assert.equal(outcome.status === 'fulfilled' && outcome.value.rows[0]!.n, String(Math.trunc(100 / (i + 1))))
  })
  assert.equal(connection.isIdle, true)
})

test('large parameters and results arrive whole', async () => {
  const connection = await open()
  const large = 'x'.repeat(20 * 1024 * 1024)
  const { rows } = await connection.query<{ text: string }>('select $1::text as text', [large])
  assert.ok(rows[0]!.text === large)
  const many = await connection.query<{ n: string }>('select n from generate_series(1, 200000) n')
  assert.deepEqual([many.rowCount, many.rows.at(-1)], [200_000, { n: '200000' }])
})

test('null stays null, whatever reads the column', async () => {
  // Number(null) and Number('') are 0.
  const connection = await open({ readColumn: () => Number })
  const { rows } = await connection.query<Record<string, number | null>>(
    `select n as a, nullif(n, 2) as b, null::bigint as c, null as d from generate_series(1, 3) n`,
  )
  assert.deepEqual(rows, [
    { a: 1, b: 1, c: null, d: null },
    { a: 2, b: null, c: null, d: null },
    { a: 3, b: 3, c: null, d: null },
  ])
})

test('a value that its parser refuses fails its query alone', async () => {
  const readColumn = (oid: number) => (text: string) => (oid === 25 ? (JSON.parse(text) as unknown) : text)
  const connection = await open({ readColumn })
  await assert.rejects(connection.query("select '{'::text from generate_series(1, 3)"), SyntaxError)
  assert.deepEqual((await connection.query(`select '{"a":1}'::text as json, 1 as n`)).rows, [{ json: { a: 1 }, n: '1' }])
})

test('a value that cannot be encoded fails before anything is sent', async () => {
  const connection = await open()
  const circular: unknown[] = []
  circular.push({ circular })
  await assert.rejects(connection.query('select $1::json', [{ circular }]), TypeError)
  await assert.rejects(connection.query('select $1::timestamptz', [new Date(NaN)]), RangeError)
  assert.equal(connection.isIdle, true)
})

test('a query without an answer in time closes the connection, and fails all that was sent', async () => {
  const connection = await open()
  const lost: Error[] = []
  connection.onLost = (error) => lost.push(error)
  const slow = connection.query({ text: 'select pg_sleep(20)', timeoutMs: 50 })
  const behind = connection.query('select 1')
  await assert.rejects(slow, isLost)
  await assert.rejects(behind, isLost)
  await assert.rejects(connection.query('select 1'), isLost)
  assert.deepEqual([connection.isOpen, lost.length], [false, 1])
})

test('a deadline is that of its query alone', async () => {
  const connection = await open()
  await connection.query({ text: 'select 1', timeoutMs: 2_000 })
  await connection.query('select 1 / 0').catch(() => undefined)
  await connection.query({ text: 'select pg_sleep(2.5)', timeoutMs: Infinity })
  assert.equal(connection.isIdle, true)
})

test('an answer that arrived while the process stood still is no late one', async () => {
  const connection = await open()
  const answered = connection.query({ text: 'select 1 as n', timeoutMs: 500 })
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000)
  assert.deepEqual((await answered).rows, [{ n: '1' }])
  assert.equal(connection.isIdle, true)
})

test('a connection that the server ends is lost with the reason of the server', async () => {
  const [admin, idle, busy] = [await open(), await open(), await open()]
  const lost = new Promise<Error>((resolve) => (idle.onLost = resolve))
  const pidOf = async (connection: typeof idle) =>
    (await connection.query<{ pid: string }>('select pg_backend_pid() as pid')).rows[0]!.pid
  const pids = [await pidOf(idle), await pidOf(busy)]
  const slow = assert.rejects(busy.query('select pg_sleep(20)'), { code: '57P01' })
  await admin.query('select pg_terminate_backend(unnest($1::int[]))', [pids])
  assert.equal(((await lost) as { code?: string }).code, '57P01')
  await slow
  assert.deepEqual([idle.isOpen, busy.isOpen], [false, false])
})

test('statement_timeout ends a statement and not the connection', async () => {
  const connection = await open({ settings: { statement_timeout: 50 } })
  await assert.rejects(connection.query('select pg_sleep(20)'), { code: '57014' })
  assert.equal(connection.isIdle, true)
})

test('settings win over those of the URL', async () => {
  const url = new URL(serverUrl)
  url.searchParams.set('options', '-c timezone=Asia/Tokyo -c lock_timeout=77')
  url.searchParams.set('application_name', 'a name')
  const connection = await open({ url: url.href, settings: { timezone: 'UTC' } })
  const { rows } = await connection.query(
    "select current_setting('timezone') as zone, current_setting('lock_timeout') as lock, current_setting('application_name') as name",
  )
  assert.deepEqual(rows, [{ zone: 'UTC', lock: '77ms', name: 'a name' }])
})

test('notifications arrive while it is idle and while it is busy', async () => {
  const [listening, other] = [await open(), await open()]
  const payloads: string[] = []
  const third = new Promise<void>((resolve) => {
    listening.onNotification = (payload) => payloads.push(payload) === 3 && resolve()
  })
  await listening.query('listen connection_test')
  await other.query("notify connection_test, 'ä'")
  await Promise.all([listening.query('select pg_sleep(0.05)'), other.query('notify connection_test')])
  await other.query("select pg_notify('connection_test', 'last')")
  await third
  assert.deepEqual(payloads, ['ä', '', 'last'])
})

test('COPY is not supported, and closes the connection', async () => {
  for (const text of ['copy (select 1) to stdout', 'create temp table t (n int); copy t from stdin']) {
    const connection = await open()
    await assert.rejects(connection.query(text), isLost)
    assert.equal(connection.isOpen, false)
  }
})

test('it is idle only outside of a transaction and with nothing unanswered', async () => {
  const connection = await open()
  const begun = connection.query('begin')
  assert.equal(connection.isIdle, false)
  await begun
  assert.equal(connection.isIdle, false)
  await connection.query('select 1 / 0').catch(() => undefined)
  assert.equal(connection.isIdle, false)
  await connection.query('rollback')
  assert.equal(connection.isIdle, true)
})

test('ending it fails what is unanswered, and is no loss', async () => {
  const connection = await open()
  connection.onLost = () => assert.fail('it was ended')
  const slow = assert.rejects(connection.query('select pg_sleep(20)'), isLost)
  await connection.end()
  await slow
  await connection.end()
  const idle = await open()
  idle.onLost = () => assert.fail('it was ended')
  await idle.end()
  await assert.rejects(idle.query('select 1'), isLost)
})
