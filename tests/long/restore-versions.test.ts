import assert from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort, startAtrium } from '../support/atrium-process.ts'
import { askGood, makeTenant } from '../support/call-api.ts'
import { until } from '../support/embedded-installation.ts'
import { queryDatabase } from '../support/query-database.ts'
import { runAtrium } from '../support/run-atrium.ts'
import { dot, uploadFile } from '../support/upload-file.ts'

/** Debian's folder of the oldest PostgreSQL that is tested. */
const programs = '/usr/lib/postgresql/15/bin'
const skip = existsSync(join(programs, 'initdb')) ? false : 'no PostgreSQL 15 here: apt-get install postgresql-15'
const masterKey = Buffer.alloc(32, 7).toString('base64')

let folder: string
let postgres: ChildProcess
let serverUrl: string

/** PostgreSQL refuses to run as root. */
const owner = () => {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

before(async () => {
  if (skip) return
  folder = await mkdtemp(join(tmpdir(), 'atrium-postgres-15-'))
  await chmod(folder, 0o711)
  const home = await mkdtemp(join(folder, 'server-'))
  const as = owner()
  if (as.uid !== undefined) await chown(home, as.uid, as.gid)
  const data = join(home, 'data')
  execFileSync(join(programs, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N'], {
    ...as,
    cwd: home,
    stdio: 'ignore',
  })
  const port = await freePort()
  const settings = ['-h', '127.0.0.1', '-p', String(port), '-k', home, '-c', 'fsync=off']
  postgres = spawn(join(programs, 'postgres'), ['-D', data, ...settings], { ...as, cwd: home, stdio: 'ignore' })
  serverUrl = `postgres://postgres@127.0.0.1:${port}`
  const answers = () =>
    queryDatabase(`${serverUrl}/postgres`, 'select')
      .then(() => true)
      .catch(() => false)
  await until(answers, 'PostgreSQL 15 answers', 30_000)
})
after(async () => {
  if (postgres && postgres.exitCode === null) {
    postgres.kill('SIGINT')
    await once(postgres, 'exit')
  }
  if (folder) await rm(folder, { recursive: true, force: true })
})

async function run(args: string[], env: Record<string, string>): Promise<string> {
  const command = runAtrium(args, { ATRIUM_MASTER_KEY: masterKey, ...env })
  assert.equal(await command.ended(120_000), 0, command.output())
  return command.output()
}

const countOf = async (url: string) =>
  Number((await queryDatabase<{ count: string }>(url, 'select count(*) from items'))[0]?.count)

test('a backup of PostgreSQL 18 is restored into 15, served there, and restored from there into 18', { skip }, async () => {
  const source = await createTestDatabase()
  const env = { ATRIUM_DATA_DIR: join(folder, 'source') }
  const first = await startAtrium({ databaseUrl: source.url, env })
  const { publishable: key } = await makeTenant(first.origin)
  const { id, admin_token: token } = (await askGood(first.origin, 'POST /v1/collections', { key, body: {} })).data
  const item = { type: 'message', content: { text: 'tab\there, emoji 🙂' } }
  await askGood(first.origin, `POST /v1/collections/${id}/items`, { key, body: item })
  await uploadFile({ origin: first.origin, key, collection: id, token }, 'image/png', dot, 'image')
  await first.end()
  const newer = join(folder, 'from-18.tar')
  await run(['backup', newer], { ...env, DATABASE_URL: source.url })
  await source.drop()

  await queryDatabase(`${serverUrl}/postgres`, 'create database atrium')
  const older = { DATABASE_URL: `${serverUrl}/atrium`, ATRIUM_DATA_DIR: join(folder, 'older') }
  await run(['restore', newer, '--verify'], older)
  await run(['restore', '--confirm-window'], older)
  const second = await startAtrium({ databaseUrl: older.DATABASE_URL, env: { ATRIUM_DATA_DIR: older.ATRIUM_DATA_DIR } })
  await askGood(second.origin, `POST /v1/collections/${id}/items`, { key, body: item })
  assert.equal((await askGood(second.origin, `GET /v1/collections/${id}/items`, { key, token })).data.items.length, 2)
  await second.end()
  const back = join(folder, 'from-15.tar')
  await run(['backup', back], older)

  const target = await createTestDatabase({ template: 'template0' })
  const output = await run(['restore', back, '--verify'], { DATABASE_URL: target.url, ATRIUM_DATA_DIR: join(folder, 'newer') })
  assert.match(output, /✓ all 1 stored artifacts have their file/)
  assert.equal(await countOf(target.url), 2)
  await target.drop()
})
