import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '#errors/start-error.ts'
import { assertOwnSessions } from './assert-own-sessions.ts'
import { openDatabase, statement } from './database.ts'

const serverUrl = process.env['ATRIUM_TEST_DATABASE_URL']!

/** A PgBouncer as Debian configures it, in front of the test run's PostgreSQL. */
async function startPgBouncer(t: TestContext, settings: string): Promise<string> {
  const { username, searchParams } = new URL(serverUrl)
  const socketFolder = searchParams.get('host')!
  const { uid, gid } = statSync(socketFolder)
  const reserved = createServer().listen(0, '127.0.0.1')
  await once(reserved, 'listening')
  const { port } = reserved.address() as AddressInfo
  reserved.close()
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-pgbouncer-'))
  const file = path.join(folder, 'pgbouncer.ini')
  const text = `[databases]\n* = host=${socketFolder} user=${username}\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=${port}\nunix_socket_dir=\nauth_type=any\n${settings}\n`
  writeFileSync(file, text)
  spawnSync('chown', ['-R', `${uid}:${gid}`, folder])
  const pooler = spawn('pgbouncer', ['-q', file], { uid, gid, stdio: 'ignore' })
  t.after(async () => {
    pooler.kill()
    await once(pooler, 'exit')
    rmSync(folder, { recursive: true })
  })
  const url = `postgresql://${username}@127.0.0.1:${port}/postgres`
  const connect = () => openDatabase({ url, maxConnections: 1, onConnectionError: () => undefined })
  for (const deadline = Date.now() + 10_000; ; await delay(50)) {
    const db = connect()
    const failure: unknown = await db.pool.query('select 1').then(
      () => undefined,
      (error: unknown) => error,
    )
    await db.close()
    if (failure === undefined) return url
    if (Date.now() > deadline) throw failure
  }
}

const withPgBouncer = {
  skip: spawnSync('pgbouncer', ['--version']).error ? 'needs pgbouncer (apt-get install pgbouncer)' : false,
}

test('PostgreSQL gives each connection its own session', () => assertOwnSessions(serverUrl))

test('a pooler in transaction mode is refused', withPgBouncer, async (t) => {
  const url = await startPgBouncer(t, 'pool_mode = transaction')
  await assert.rejects(assertOwnSessions(url), (error) => error instanceof StartError && /use session mode/.test(error.message))
})

test('a pooler in session mode is as good as a direct connection, also where it leaves out options', withPgBouncer, async (t) => {
  for (const settings of ['pool_mode = session', 'pool_mode = session\nignore_startup_parameters = options']) {
    const url = await startPgBouncer(t, settings)
    await assertOwnSessions(url)
    const db = openDatabase({ url, maxConnections: 3, onConnectionError: () => undefined })
    t.after(() => db.close())
    const read = statement<{ zone: string; limit: string; lock: string; n: number }>(
      'settings',
      `select current_setting('timezone') as zone, current_setting('statement_timeout') as limit, current_setting('lock_timeout') as lock, $1::int as n`,
    )
    const rows = await Promise.all(Array.from({ length: 20 }, (_, n) => db.query(read, [n])))
    assert.deepEqual(
      rows.flat(),
      rows.map((_, n) => ({ zone: 'UTC', limit: '5s', lock: '50ms', n })),
    )
  }
})

test('what is wrong with the address is told as such', async () => {
  const wrong = {
    'postgresql://u@127.0.0.1:1/x': /ECONNREFUSED/,
    'postgresql://u@one,two/x': /several hosts/,
    'mysql://x': /not a postgresql/,
  }
  for (const [url, reason] of Object.entries(wrong))
    await assert.rejects(assertOwnSessions(url), (error) => error instanceof StartError && reason.test(error.message), url)
})
