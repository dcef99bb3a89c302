import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach, test } from 'node:test'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { Client, Pool } from 'pg'
import { StartError } from '#errors/start-error.ts'
import { DiskGuard } from './embedded/disk-guard.ts'
import { findServerUser } from './embedded/server-user.ts'
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.ts'

const user = findServerUser()
const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'atrium embedded ')))
chmodSync(root, 0o711)
after(() => rmSync(root, { recursive: true, force: true }))

const closedFolder = path.join(root, 'closed-programs')
mkdirSync(closedFolder, { mode: 0o700 })
const running: EmbeddedPostgres[] = []
const children: ChildProcess[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()))
  // Where a test failed half way; one left behind would hold the test runner's output open.
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

const dataFolder = (name: string) => path.join(root, name)

async function start(dataDir: string, said: string[] = [], settings: Record<string, string> = {}): Promise<string> {
  const server = await startEmbeddedPostgres({ dataDir, say: (line) => said.push(line), fsync: false, settings })
  running.push(server)
  return server.connectionString
}

const stopLast = () => running.pop()!.stop()

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query({ text: sql, rowMode: 'array' })
  await client.end()
  return rows.flat()
}

/** Starts a query that will be interrupted. */
async function beginQuery(url: string, sql: string): Promise<{ outcome: Promise<unknown> }> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  return { outcome: client.query(sql).catch((error: Error) => error) }
}

/** A StartError with one line. Other errors would be printed with a stack. */
const oneLine = (pattern: RegExp) => (error: unknown) =>
  error instanceof StartError && pattern.test(error.message) && !error.message.includes('\n')

/** Another atrium process: starts PostgreSQL in the folder, prints the connection string, stops on SIGTERM. */
async function startInProcess(
  dataDir: string,
  as?: { uid: number; gid: number },
): Promise<{ child: ChildProcess; line: string }> {
  const module = path.join(import.meta.dirname, 'embedded-postgres.ts')
  const script = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(module)})
    try {
      const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, say: () => {}, fsync: false })
      process.on('SIGINT', () => console.log('interrupted'))
      process.on('SIGTERM', () => server.stop().then(() => process.exit()))
      console.log(server.connectionString)
      setInterval(() => {}, 60_000)
    } catch (error) { console.log(error.constructor.name + ': ' + error.message) }`
  // detached: a separate process group, like that of a shell's foreground job.
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    ...as,
    detached: true,
    cwd: '/',
    // A folder that PostgreSQL's user cannot enter, as root's own folder of programs may be.
    env: { ...process.env, PATH: closedFolder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return { child, line: await nextLine(child) }
}

const isAlive = (pid: number) => existsSync(`/proc/${pid}`)

/** The shells that wait for the end of an atrium, by the folder that they would remove. */
function watchdogsOf(socketFolder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return command.includes('atrium-watchdog') && command.includes(socketFolder)
      } catch {
        return false
      }
    })
    .map(Number)
}

const nextLine = (child: ChildProcess) =>
  new Promise<string>((resolve) => child.stdout!.once('data', (data: Buffer) => resolve(data.toString().trim())))
const ended = (child: ChildProcess) => new Promise<void>((resolve) => child.once('exit', () => resolve()))

test('a new folder whose path has spaces and quotes gets the database atrium, in UTF-8, and keeps its rows over a restart', async () => {
  const dataDir = dataFolder(`it's "my" data/atrium`)
  const url = await start(dataDir)
  const facts = `select current_database(), pg_encoding_to_char(encoding), datlocale, current_setting('listen_addresses') from pg_database where datname = 'atrium'`
  assert.deepEqual(await query(url, facts), ['atrium', 'UTF8', 'C.UTF-8', ''])
  await query(url, `create table kept as select 'yes' as word`)
  await stopLast()
  assert.deepEqual(await query(await start(dataDir), 'select word from kept'), ['yes'])
  assert.ok(existsSync(path.join(dataDir, 'postgres', 'PG_VERSION')))
})

test('a folder whose path is longer than a socket path may be works, and its socket folder goes with it', async () => {
  const url = await start(dataFolder('long-'.repeat(30)))
  const socketFolder = new URL(url).searchParams.get('host')!
  assert.ok(`${socketFolder}/.s.PGSQL.5432`.length <= 107)
  assert.equal(lstatSync(socketFolder).mode & 0o777, 0o700)
  assert.deepEqual(await query(url, 'select 1'), [1])
  await stopLast()
  assert.equal(existsSync(socketFolder), false)
})

test('of two simultaneous starts in one new folder, one runs and the other fails because the folder is in use', async () => {
  const dataDir = dataFolder('two-at-once')
  // Left behind by earlier first starts that were killed, one of them just now.
  mkdirSync(path.join(dataDir, 'postgres.new-aB3dE6', 'base'), { recursive: true })
  utimesSync(path.join(dataDir, 'postgres.new-aB3dE6'), 0, 0)
  mkdirSync(path.join(dataDir, 'postgres.new-fG7hI9'))
  const results = await Promise.allSettled([start(dataDir), start(dataDir)])
  const refused = results.filter((result) => result.status === 'rejected')
  assert.equal(refused.length, 1)
  assert.ok(oneLine(/in use by another running atrium/)(refused[0]!.reason))
  const left = readdirSync(dataDir).filter((name) => name.startsWith('postgres.new-'))
  assert.deepEqual(left, ['postgres.new-fG7hI9'], 'the old one is removed')
})

test('a folder in use by another running atrium is rejected, and that atrium continues', async () => {
  const dataDir = dataFolder('in-use')
  const { child, line: url } = await startInProcess(dataDir)
  await assert.rejects(start(dataDir), oneLine(/in use by another running atrium/))
  assert.deepEqual(await query(url, 'select 1'), [1])
  child.kill('SIGTERM')
  await ended(child)
  assert.deepEqual(await query(await start(dataDir), 'select 1'), [1])
})

const socketFolderOf = (url: string) => new URL(url).searchParams.get('host')!
const lockedPid = (dataDir: string) =>
  Number(readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])

async function until(isTrue: () => boolean, what: string, withinMs: number): Promise<void> {
  for (let waitedMs = 0; !isTrue(); waitedMs += 20) {
    assert.ok(waitedMs < withinMs, what)
    await delay(20)
  }
}

for (const as of user ? [undefined, user] : [undefined]) {
  const who = as ? 'of an ordinary user' : user ? 'under root' : 'of this user'
  test(`a PostgreSQL ${who} ends within seconds of an atrium that is killed, by itself, and leaves no socket behind`, async () => {
    const dataDir = dataFolder(`killed ${who}`)
    mkdirSync(dataDir, { mode: 0o711 })
    if (as) chownSync(dataDir, as.uid, as.gid)
    const { child, line: url } = await startInProcess(dataDir, as)
    await query(url, `create table kept as select 'yes' as word`)
    const pid = lockedPid(dataDir)
    const busy = await beginQuery(url, 'select pg_sleep(60)')
    child.kill('SIGKILL')
    await ended(child)
    await until(() => !isAlive(pid), 'PostgreSQL has ended', 25_000)
    assert.ok((await busy.outcome) instanceof Error)
    await until(() => !existsSync(socketFolderOf(url)), 'its socket folder is gone', 25_000)
    assert.ok(!existsSync(path.join(dataDir, 'postgres', 'postmaster.pid')), 'in order')
    if (as) return
    assert.deepEqual(await query(await start(dataDir), 'select word from kept'), ['yes'])
  })
}

test('a start right after a kill -9 works', async () => {
  const dataDir = dataFolder('start-after-kill')
  const { child, line: url } = await startInProcess(dataDir)
  await query(url, `create table kept as select 'yes' as word`)
  child.kill('SIGKILL')
  await ended(child)
  assert.deepEqual(await query(await start(dataDir), 'select word from kept'), ['yes'])
})

test('a PostgreSQL that was left behind with its watchdog is replaced, and its committed rows are there', async () => {
  const dataDir = dataFolder('orphan')
  const { child, line: url } = await startInProcess(dataDir)
  await query(url, `create table kept as select 'yes' as word`)
  for (const pid of watchdogsOf(socketFolderOf(url))) process.kill(pid, 'SIGKILL')
  child.kill('SIGKILL')
  await ended(child)
  assert.deepEqual(await query(url, 'select word from kept'), ['yes'], 'the orphan still answers')
  const said: string[] = []
  assert.deepEqual(await query(await start(dataDir, said), 'select word from kept'), ['yes'])
  assert.match(said.join('\n'), /left behind by an atrium that was killed/)
  await assert.rejects(query(url, 'select 1'), { code: 'ENOENT' })
})

test('a PostgreSQL that is killed during a long query is restarted at the same address, with all committed rows', async () => {
  const dataDir = dataFolder('restarted')
  const said: string[] = []
  // Without fsync, commits do not wait for the log. With synchronous_commit they must survive the end of the processes.
  const url = await start(dataDir, said, { synchronous_commit: 'on' })
  await query(url, `create table kept as select 'yes' as word`)
  // A session that does not check for signals while it counts.
  const busy = await beginQuery(url, 'select count(*) from generate_series(1, 400000000)')
  const first = lockedPid(dataDir)
  process.kill(first, 'SIGKILL')
  await until(() => said.includes('PostgreSQL runs again'), said.join('\n'), 25_000)
  assert.match(said[0]!, /^PostgreSQL ended: .*SIGKILL.*; starting it again in \d\.\d s$/)
  assert.ok((await busy.outcome) instanceof Error)
  assert.notEqual(lockedPid(dataDir), first)
  assert.deepEqual(await query(url, 'select word from kept'), ['yes'])
})

test('a PostgreSQL whose log was removed is restarted when it ends', async () => {
  const dataDir = dataFolder('no-log')
  const said: string[] = []
  const url = await start(dataDir, said)
  rmSync(path.join(dataDir, 'postgres.log'))
  process.kill(lockedPid(dataDir), 'SIGTERM')
  await until(() => said.includes('PostgreSQL runs again'), said.join('\n'), 25_000)
  assert.match(said[0]!, /^PostgreSQL ended: exit code 0 /)
  assert.deepEqual(await query(url, 'select 1'), [1])
})

test('the log of a running PostgreSQL is emptied when it is large, and PostgreSQL goes on at its new end', async (t) => {
  const dataDir = dataFolder('large-log')
  const url = await start(dataDir)
  const logFile = path.join(dataDir, 'postgres.log')
  const largeBytes = 17 * 1024 * 1024
  appendFileSync(logFile, Buffer.alloc(largeBytes, 'x'))
  const folder = path.join(dataDir, 'postgres')
  const guard = new DiskGuard({ folder, logFile, connectionString: () => url, say: () => undefined, reserveBytes: 0 })
  t.after(() => guard.stop())
  await guard.start()
  await until(() => statSync(logFile).size < largeBytes, 'it is emptied', 25_000)
  const refused = await beginQuery(url, 'select 1/0')
  assert.match(String(await refused.outcome), /division by zero/)
  assert.match(readFileSync(logFile, 'utf8'), /^[^\0]{0,200}division by zero\n$/)
  assert.ok(statSync(`${logFile}.old`).size >= largeBytes)
})

test('the reserve for a full disk is written without keeping the process from its other work', async (t) => {
  const parent = mkdtempSync(path.join(root, 'reserve-'))
  const folder = path.join(parent, 'postgres')
  mkdirSync(folder)
  const [reserve, reserveBytes] = [path.join(parent, 'postgres.reserve'), 8 * 1024 * 1024]
  const reserved = () => statSync(reserve, { throwIfNoEntry: false })?.size ?? 0
  const connectionString = () => `postgresql://atrium@localhost/atrium?host=${parent}`
  const logFile = path.join(parent, 'postgres.log')
  const guard = new DiskGuard({ folder, logFile, connectionString, say: () => undefined, lowBytes: 0, reserveBytes })
  t.after(() => guard.stop())
  let isStarted = false
  let sawPart = false
  const started = guard.start().finally(() => (isStarted = true))
  while (!isStarted) {
    sawPart ||= reserved() > 0 && reserved() < reserveBytes
    await setImmediate()
  }
  await started
  assert.ok(sawPart, 'other work runs while it is written')
  assert.equal(reserved(), reserveBytes)
})

test('Ctrl-C in the terminal leaves PostgreSQL running until stop()', async () => {
  const { child, line: url } = await startInProcess(dataFolder('ctrl-c'))
  const interrupted = nextLine(child)
  process.kill(-child.pid!, 'SIGINT')
  assert.equal(await interrupted, 'interrupted')
  assert.deepEqual(await query(url, 'select 1'), [1])
  child.kill('SIGTERM')
  await ended(child)
  await assert.rejects(query(url, 'select 1'), { code: 'ENOENT' })
})

test('stop() right after pool.end() interrupts no session, and it also ends while a session is open', async () => {
  const dataDir = dataFolder('stop')
  for (let round = 0; round < 5; round++) {
    const pool = new Pool({ connectionString: await start(dataDir) })
    pool.on('error', (error) => assert.fail(error))
    await Promise.all(Array.from({ length: 10 }, () => pool.query('select pg_sleep(0.01)')))
    await pool.end()
    await stopLast()
  }
  const client = new Client({ connectionString: await start(dataDir) })
  await client.connect()
  const codes: unknown[] = []
  client.on('error', (error: NodeJS.ErrnoException) => codes.push(error.code))
  await stopLast()
  assert.equal(codes[0], '57P01')
})

test('a folder that PostgreSQL of another major version wrote is refused, untouched', async () => {
  const dataDir = dataFolder('old-version')
  mkdirSync(path.join(dataDir, 'postgres'), { recursive: true })
  writeFileSync(path.join(dataDir, 'postgres', 'PG_VERSION'), '17\n')
  await assert.rejects(start(dataDir), oneLine(/written by PostgreSQL 17 and this release of Atrium contains PostgreSQL 18/))
  assert.equal(readFileSync(path.join(dataDir, 'postgres', 'PG_VERSION'), 'utf8'), '17\n')
})

test('a folder of other files is refused', async () => {
  mkdirSync(path.join(dataFolder('foreign'), 'postgres'), { recursive: true })
  writeFileSync(path.join(dataFolder('foreign'), 'postgres', 'letters.txt'), '')
  await assert.rejects(start(dataFolder('foreign')), oneLine(/holds files but no PostgreSQL database/))
})

test('a data folder that cannot be made is refused', async () => {
  writeFileSync(dataFolder('a-file'), '')
  await assert.rejects(start(path.join(dataFolder('a-file'), 'atrium')), oneLine(/cannot be written \(ENOTDIR\)/))
})

test('a setting that PostgreSQL rejects fails with the message of PostgreSQL', async () => {
  const wrong = startEmbeddedPostgres({
    dataDir: dataFolder('wrong-setting'),
    say: () => {},
    fsync: false,
    settings: { max_connections: 'many' },
  })
  await assert.rejects(wrong, oneLine(/PostgreSQL did not start: .*max_connections/))
})

test('a start that fails after PostgreSQL runs leaves none running', async () => {
  const dataDir = dataFolder('no-reserve')
  // The file that the guard of the disk writes cannot be made.
  mkdirSync(path.join(dataDir, 'postgres.reserve'), { recursive: true })
  await assert.rejects(startEmbeddedPostgres({ dataDir, say: () => {} }), { code: 'EISDIR' })
  assert.equal(existsSync(path.join(dataDir, 'postgres', 'postmaster.pid')), false)
})

const asRoot = { skip: user ? false : 'needs root' }

test(
  "under root, a data folder closed to PostgreSQL's user gets its files under /var/lib/atrium, linked from it",
  asRoot,
  async (t) => {
    const dataDir = dataFolder('closed')
    mkdirSync(dataDir, { mode: 0o700 })
    const said: string[] = []
    await query(await start(dataDir, said), `create table kept as select 'yes' as word`)
    const elsewhere = realpathSync(path.join(dataDir, 'postgres'))
    t.after(() => rmSync(path.dirname(elsewhere), { recursive: true, force: true }))
    assert.match(elsewhere, /^\/var\/lib\/atrium\/closed-[0-9a-f]{8}\/postgres$/)
    assert.ok(said.join('\n').includes(elsewhere))
    await stopLast()
    chmodSync(dataDir, 0o711)
    assert.deepEqual(
      await query(await start(dataDir), 'select word from kept'),
      ['yes'],
      'opening the folder later does not lose the data',
    )
    await stopLast()
    rmSync(elsewhere, { recursive: true })
    await assert.rejects(start(dataDir), oneLine(/which does not exist: restore it/))
  },
)

test('under root, a data folder that was closed after it got its data is refused, not started empty', asRoot, async () => {
  const dataDir = dataFolder('closed-later')
  await start(dataDir)
  await stopLast()
  chmodSync(dataDir, 0o700)
  await assert.rejects(start(dataDir), oneLine(/can no longer enter .*chmod o\+x/))
})

test("under root, files restored as root are given back to PostgreSQL's user", asRoot, async () => {
  const dataDir = dataFolder('restored')
  await start(dataDir)
  await stopLast()
  assert.equal(spawnSync('chown', ['-R', '0:0', path.join(dataDir, 'postgres')]).status, 0)
  assert.deepEqual(await query(await start(dataDir), 'select 1'), [1])
})

test('an ordinary user can run it in their own folder, and the error names a folder that they cannot write', asRoot, async () => {
  const dataDir = dataFolder('ordinary')
  mkdirSync(dataDir, { mode: 0o700 })
  chownSync(dataDir, user!.uid, user!.gid)
  const { child, line: url } = await startInProcess(dataDir, user)
  assert.deepEqual(await query(url, 'select 1'), [1])
  child.kill('SIGTERM')
  await ended(child)
  const { line: refused } = await startInProcess(dataFolder('not-its-own'), user)
  assert.match(refused, /^StartError: The data folder .* cannot be written \(EACCES\)/)
})

test('a stale lock file whose process id now belongs to another program does not block the start', asRoot, async () => {
  const dataDir = dataFolder('stale-lock')
  await start(dataDir)
  await stopLast()
  const bystander = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600_000)'], {
    uid: user!.uid,
    gid: user!.gid,
    stdio: 'ignore',
  })
  children.push(bystander)
  writeFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), `${bystander.pid}\n`)
  chownSync(path.join(dataDir, 'postgres', 'postmaster.pid'), user!.uid, user!.gid)
  assert.deepEqual(await query(await start(dataDir), 'select 1'), [1])
  assert.equal(bystander.exitCode, null)
})
