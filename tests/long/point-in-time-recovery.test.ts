import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, startAtrium } from '../support/atrium-process.ts'
import { askGood, call, makeTenant } from '../support/call-api.ts'
import { blocksOf } from '../support/run-guide.ts'
import { skipWithout } from '../support/skip-without.ts'

const bin = '/usr/lib/postgresql/15/bin'
const cli = fileURLToPath(new URL('../../packages/cli/src/atrium.ts', import.meta.url))
const page = readFileSync(new URL('../../docs/operating/point-in-time-recovery.md', import.meta.url), 'utf8')
const blocks = blocksOf(page.replaceAll(/^ {3}/gm, '')).filter(({ language }) => language === 'sh' || language === 'ini')

const skip =
  skipWithout('pgbackrest', 'setpriv') ||
  (!existsSync(`${bin}/postgres`) && 'no PostgreSQL 15 here: apt-get install postgresql-15') ||
  (process.getuid?.() !== 0 && 'PostgreSQL has to run as the user postgres: run this as root')

/** The commands of the page, in its order, on a PostgreSQL of Debian with the real pgBackRest. */
test(
  'an installation goes back to a second before a mistake, and is closed until confirmed',
  { skip, timeout: 300_000 },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'atrium-pitr-'))
    chmodSync(folder, 0o755)
    t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 }))
    const [data, repository, port] = [join(folder, 'main'), join(folder, 'repository'), await freePort()]
    const postgresIds = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })))
    for (const path of [data, repository, join(folder, 'log'), join(folder, 'lock')]) {
      await mkdir(path, { mode: 0o700 })
      await chown(path, postgresIds[0]!, postgresIds[1]!)
    }
    const config = join(folder, 'pgbackrest.conf')
    const [ini, archive, first, restore, wait, close, confirm] = blocks.map(({ text }) => text) as [string, ...string[]] &
      string[]
    const here = ini
      .replace('/var/lib/pgbackrest', repository)
      .replace('/var/lib/postgresql/15/main', `${data}\npg1-port=${port}\npg1-socket-path=${folder}`)
      .replace('[global]', `[global]\nlog-path=${join(folder, 'log')}\nlock-path=${join(folder, 'lock')}\nspool-path=${folder}`)
    await writeFile(config, here, { mode: 0o644 })

    const env: Record<string, string> = {
      PATH: `${bin}:${process.env['PATH']}`,
      PGHOST: folder,
      PGPORT: String(port),
      PGBACKREST_CONFIG: config,
      LC_ALL: 'C.UTF-8',
    }
    const asPostgres = ['--reuid', 'postgres', '--regid', 'postgres', '--clear-groups', '--pdeathsig', 'KILL']
    const run = (script: string, more: Record<string, string> = {}) =>
      execFileSync('setpriv', [...asPostgres, 'sh', '-euc', script], {
        cwd: '/',
        env: { ...env, ...more },
        encoding: 'utf8',
        stdio: 'pipe',
      })
    chmodSync(folder, 0o777)
    run(`initdb -D ${data} -A trust -E UTF8 --locale=C.UTF-8`)
    const startPostgres = async () => {
      const server = spawn('setpriv', [...asPostgres, `${bin}/postgres`, '-D', data, '-p', String(port), '-k', folder], {
        cwd: '/',
        env,
        stdio: 'ignore',
      })
      while (!isReady()) {
        assert.equal(server.exitCode, null)
        await delay(100)
      }
      return async () => {
        server.kill('SIGINT')
        if (server.exitCode === null) await once(server, 'exit')
      }
    }
    const isReady = () => {
      try {
        run('pg_isready -q')
        return true
      } catch {
        return false
      }
    }

    let stop = await startPostgres()
    t.after(() => stop())
    run('createuser atrium && createdb -O atrium atrium')
    run(archive!)
    await stop()
    stop = await startPostgres()
    const info = run(first!)
    assert.match(info, /status: ok/)
    assert.match(info, /full backup: /)

    const databaseUrl = `postgres://atrium@127.0.0.1:${port}/atrium`
    const before = await startAtrium({ databaseUrl })
    t.after(() => before.end('SIGKILL'))
    const kept = await makeTenant(before.origin)
    const { id, admin_token: token } = (
      await askGood(before.origin, 'POST /v1/collections', { key: kept.publishable, body: { item_access: 'open' } })
    ).data
    await askGood(before.origin, `POST /v1/collections/${id}/items`, {
      key: kept.publishable,
      body: { type: 'm', content: 'kept' },
    })
    // Somebody is signed in to the console at that moment, and has a link.
    run(
      `psql -d atrium -c "insert into console_links (secret_hash, kind, expires_at) values ('a', 'operator', now() + interval '1 day');
         insert into console_sessions (id, token_hash, csrf_hash, address, expires_at)
         values ('a', 'a', 'a', '127.0.0.1', now() + interval '1 day')"`,
    )
    await delay(1_500)
    const TARGET = run(`psql -Atc "select date_trunc('second', now())"`).trim()
    await delay(1_500)
    await askGood(before.origin, `POST /v1/collections/${id}/items`, {
      key: kept.publishable,
      body: { type: 'm', content: 'lost' },
    })
    await before.end()
    run('psql -c "select pg_switch_wal()"')

    await stop()
    run(restore!, { TARGET })
    stop = await startPostgres()
    run(wait!)
    run(close!, { TARGET })
    const doors = 'select (select count(*) from console_links) + (select count(*) from console_sessions)'
    assert.equal(run(`psql -d atrium -Atc "${doors}"`).trim(), '0', 'whoever was signed out since is not signed in again')
    const after = await startAtrium({ databaseUrl })
    t.after(() => after.end('SIGKILL'))
    const read = () => call(after.origin, `GET /v1/collections/${id}/items`, { key: kept.publishable, token })
    assert.equal((await read()).status, 503, 'closed until it is confirmed')
    const atrium = join(folder, 'atrium')
    await writeFile(atrium, `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`, { mode: 0o755 })
    execFileSync('sh', ['-euc', confirm!], {
      env: { PATH: `${folder}:${process.env['PATH']}`, DATABASE_URL: databaseUrl },
      stdio: 'pipe',
    })
    let answer = await read()
    for (const deadline = Date.now() + 15_000; answer.status === 503 && Date.now() < deadline; answer = await read())
      await delay(200)
    assert.equal(answer.status, 200)
    assert.match(answer.text, /kept/)
    assert.doesNotMatch(answer.text, /lost/)
  },
)
