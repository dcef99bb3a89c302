import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { secretVariables } from '../packages/server/src/config/secret-files.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { adminToken, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { makeTenant } from './support/call-api.ts'
import { commandsOf, notRunHere, runElsewhere } from './support/operating-commands.ts'
import { queryDatabase } from './support/query-database.ts'
import { runAtrium } from './support/run-atrium.ts'
import { blocksOf, runGuide } from './support/run-guide.ts'
import { skipWithout } from './support/skip-without.ts'

const folder = new URL('../docs/operating/', import.meta.url)
const cli = fileURLToPath(new URL('../packages/cli/src/atrium.ts', import.meta.url))
const read = (file: string) => readFileSync(new URL(file, folder), 'utf8')
const pages = ['', 'alerts/'].flatMap((under) =>
  readdirSync(new URL(`./${under}`, folder)).flatMap((name) => (name.endsWith('.md') ? [`${under}${name}`] : [])),
)

const skip = skipWithout('curl', 'openssl', 'psql', 'top')

describe('the commands of the pages run on an installation', { skip, timeout: 240_000 }, () => {
  let database: TestDatabase
  let empty: TestDatabase
  let atrium: AtriumProcess
  let programs: string
  before(async () => {
    programs = await mkdtemp(join(tmpdir(), 'atrium-programs-'))
    await writeFile(join(programs, 'atrium'), `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`, { mode: 0o755 })
    database = await createTestDatabase()
    empty = await createTestDatabase({ template: 'template0' })
    // A runbook opens the inspector of a process: at a free port.
    const env = { ATRIUM_DATA_DIR: join(programs, 'data'), NODE_OPTIONS: '--inspect-port=0' }
    atrium = await startAtrium({ databaseUrl: database.url, env, space: true })
  })
  after(async () => {
    await atrium?.end()
    await database?.drop()
    await empty?.drop()
    await rm(programs, { recursive: true, force: true })
  })

  /** What the command of a runbook acts on, as variables. Each also proves the effect after the page has run. */
  const runbooks: Record<string, (t: TestContext) => Promise<Record<string, string>>> = {
    'alerts/AtriumConnectionsWaitedFor.md': async (t) => {
      const session = new Client({ connectionString: database.url })
      const ended = new Promise((resolve) => session.on('error', resolve))
      await session.connect()
      await session.query('begin; lock table items')
      const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
      t.after(async () => assert.match(String(await ended), /terminating connection due to administrator command/))
      return { PID: String(rows[0]!.pid) }
    },
    'alerts/AtriumEventLoopDelay.md': (t) => {
      const [pid] = readFileSync(`/proc/${atrium.pid}/task/${atrium.pid}/children`, 'utf8').split(' ')
      t.after(async () => {
        for (
          const deadline = Date.now() + 10_000;
          !/Debugger listening on ws:\/\/127\.0\.0\.1:/.test(atrium.output());
          await delay(50)
        )
          assert.ok(Date.now() < deadline, atrium.output().slice(-2_000))
      })
      return Promise.resolve({ PID: pid! })
    },
  }

  for (const file of pages.filter((page) => !(page in runElsewhere) && /^ *```sh$/m.test(read(page)))) {
    test(file, async (t) => {
      const tenant = await makeTenant(atrium.origin)
      // A role belongs to the whole PostgreSQL, so its name is that of this test.
      const role = `atrium_${randomBytes(8).toString('hex')}`
      await queryDatabase(database.url, `create role ${role} login`)
      await queryDatabase(database.url, `grant all on schema public to ${role}`)
      t.after(() => queryDatabase(database.url, `drop owned by ${role}; drop role if exists ${role}_b, ${role}`))
      const own = new URL(database.url)
      own.username = role
      const text = read(file)
        .replaceAll(/^ {2,3}(?=\S| {2}\S|$)/gm, '')
        .replaceAll(/\batrium(_b)?(?=;|'| password| login| set role)/g, `${role}$1`)
        .replaceAll('ten_4fRzK0vXcB1mQwErTy7uPa', tenant.id)
        .replaceAll('opc_4fRzK0vXcB1mQwErTy7uPa', "$(atrium admin-credentials list --json | grep -om1 'opc_[A-Za-z0-9]*')")
        .replaceAll('2027-06-30T00:00:00Z', new Date(Date.now() + 86_400_000).toISOString())
        .replaceAll('/backups/', `${programs}/`)
        .replaceAll('postgres://atrium:PASSWORD@db.example/atrium', empty.url)
        .replaceAll('/var/lib/atrium', join(programs, 'restored'))
      const blocks = blocksOf(text).filter(({ language }) => language === 'sh')
      assert.ok(blocks.length > 0)
      const given = {
        PATH: `${programs}${delimiter}${process.env['PATH']}`,
        ATRIUM_PUBLIC_URL: atrium.origin,
        ATRIUM_ADMIN_TOKEN: adminToken,
        ATRIUM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        ATRIUM_DATA_DIR: join(programs, 'data'),
        // These look at the role itself, or show what it may do.
        DATABASE_URL: ['hardening.md', 'rotate.md'].includes(file) ? own.href : database.url,
        SUPERUSER_URL: database.url,
        ATRIUM_SPACES_URL: atrium.spacesOrigin,
        ENDPOINT: `${atrium.origin}/healthz`,
        TENANT: tenant.id,
        ...(await runbooks[file]?.(t)),
      }
      // The token and the signing key of the examples are new; the installation of this test keeps its own.
      // `refused`: the pages' curl has its own --fail.
      await runGuide(
        blocks.map((block) => ({
          ...block,
          refused: true,
          text: block.text
            .replace('$(cat admin-token.new)', adminToken)
            .replace('--pin "$(cat new.pin)"', '--pin "$(cat old.pin)"'),
        })),
        given,
      )
    })
  }
})

test('each command is run, or listed with the reason why it is not', () => {
  const listed = Object.entries(notRunHere).flatMap(([page, commands]) => Object.keys(commands).map((one) => `${page}: ${one}`))
  const found = pages.flatMap((page) => {
    const { unmarked, inText } = commandsOf(read(page))
    return [...unmarked, ...inText.filter((command) => !command.startsWith('atrium '))].map((command) => `${page}: ${command}`)
  })
  assert.deepEqual([...new Set(found)].toSorted(), listed.toSorted())
})

test('each command of atrium in the text exists, with its options', async () => {
  const commands = new Map<string, Set<string>>()
  for (const page of pages) {
    for (const command of commandsOf(read(page)).inText) {
      const words = command.split(' ')
      if (words.shift() !== 'atrium' || words[0] === 'COMMAND') continue
      const isGroup = ['tenants', 'admin-credentials', 'leaks'].includes(words[0] ?? '')
      const name = words.slice(0, isGroup ? 2 : 1).join(' ')
      const options = commands.get(name) ?? new Set()
      for (const word of words) if (word.startsWith('--')) options.add(word)
      commands.set(name, options)
    }
  }
  assert.ok(commands.size > 10)
  const index = read('README.md')
  const namesIn = (sentence: RegExp) => [...(sentence.exec(index)?.[1] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name]) => name)
  const onDatabase = namesIn(/^(`start`[^.]*) work on the database\./m)
  const callServer = namesIn(/(`tenants`[^.]*) call a\s+server/)
  assert.ok(onDatabase.length > 5 && callServer.length > 5)
  await Promise.all(
    [...commands].map(async ([name, options]) => {
      const run = runAtrium([...name.split(' '), '--help'], {})
      assert.equal(await run.ended(60_000), 0, run.output())
      assert.match(run.output(), new RegExp(`^Usage: atrium ${name} `, 'm'))
      for (const option of options) assert.ok(run.output().includes(option), `atrium ${name} ${option}`)
      const [group] = name.split(' ')
      const callsServer = /^ *ATRIUM_PUBLIC_URL /m.test(run.output())
      if (onDatabase.includes(group)) assert.ok(!callsServer, `README.md: atrium ${name} works on the database`)
      if (callServer.includes(group)) assert.ok(callsServer, `README.md: atrium ${name} calls a server`)
    }),
  )
})

test('the shell reads the settings of install.md as systemd does, with an address that has `&`', () => {
  const page = read('install.md')
  const [, settings = ''] = /^```ini\n([^]*?)^```$/m.exec(page.slice(page.indexOf('## systemd')))!
  const [, plain = ''] = /in\s+single\s+quotes\s+if[^`]+letters,\s+digits\s+and\s+`([^`]+)`/.exec(page)!
  const lines = settings.trim().split('\n')
  assert.ok(lines.some((line) => /^DATABASE_URL=.*&sslrootcert=/.test(line)))
  for (const line of lines) {
    const [, name, value = ''] = /^(\w+)=(.*)$/.exec(line)!
    const unquoted = value.replace(/^'(.*)'$/, '$1')
    assert.equal(
      unquoted === value,
      [...value].every((one) => /[A-Za-z0-9]/.test(one) || plain.includes(one)),
      line,
    )
    // As the command of the page does.
    const script = `set -a; eval "$0"; exec printenv ${name}`
    const { stdout } = spawnSync('sh', ['-c', script, settings], { encoding: 'utf8' })
    assert.equal(stdout, `${unquoted}\n`)
  }
  // Each of them means itself to the shell.
  assert.equal(spawnSync('sh', ['-c', `a=${plain}; printf %s "$a"`], { encoding: 'utf8' }).stdout, plain)
})

test('rotate.md has every secret of the settings', () => {
  const page = read('rotate.md')
  for (const name of secretVariables) assert.ok(page.includes(`\`${name}\``), name)
})

test('retention.md has every table, and every sweep that it names exists', () => {
  const page = read('retention.md')
  const schema = readFileSync(new URL('../migrations/schema.sql', import.meta.url), 'utf8')
  const sweeper = readFileSync(new URL('../packages/server/src/processes/sweeper.ts', import.meta.url), 'utf8')
  const tables = [...schema.matchAll(/^create table (\w+) \(/gm)].map(([, name]) => name!)
  assert.ok(tables.length > 50)
  const listed = [...page.matchAll(/(?:^\| |[:,] |^)`([a-z_]+)`/gm)].map(([, name]) => name!)
  assert.deepEqual([...new Set(listed)].toSorted(), tables.toSorted())
  const removers = [...page.matchAll(/^\| `\w+` (?:\|[^|]*){3}\| (.*) \|$/gm)].flatMap(
    ([, cell]) => cell!.match(/`[^`]+ [^`]+`/g) ?? [],
  )
  assert.ok(removers.length > 10)
  for (const remover of removers) assert.ok(sweeper.includes(`name: '${remover.slice(1, -1)}'`), remover)
})

test('the pages of alerts name spans that exist', () => {
  const spans = read('observability.md')
  for (const page of pages)
    for (const [, name] of read(page).matchAll(/spans named `(\w+)`/g))
      assert.match(spans, new RegExp(`^\\|[^|]*\`${name}\``, 'm'), `${page}: ${name}`)
})

test('the index has every page', () => {
  const index = read('README.md')
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.md')))
    if (file !== 'README.md') assert.ok(index.includes(`](${file})`), file)
})
