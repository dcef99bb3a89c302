import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { adminToken, freePort, startAtrium } from './support/atrium-process.ts'
import { runAtrium } from './support/run-atrium.ts'

let database: TestDatabase
let folder: string
before(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'atrium-machines-'))
})
after(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
})

const idIn = (machine: string) => readFile(join(folder, machine, 'blobs', '.atrium-folder'), 'utf8')

async function starts(t: TestContext, machine: string, role?: 'api') {
  const env = { ATRIUM_DATA_DIR: join(folder, machine) }
  const atrium = await startAtrium({ databaseUrl: database.url, env, ...(role ? { role } : {}) })
  t.after(() => atrium.end())
  return atrium
}

async function refusal(role: string, machine: string, env: Record<string, string> = {}): Promise<string> {
  const run = runAtrium([role, ...(role === 'start' ? ['--no-space'] : [])], {
    DATABASE_URL: database.url,
    ATRIUM_DATA_DIR: join(folder, machine),
    ATRIUM_ADMIN_TOKEN: adminToken,
    ATRIUM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    PORT: String(await freePort()),
    ...env,
  })
  assert.equal(await run.ended(30_000), 1, run.output())
  return run.output()
}

test('a process whose disk is another one than that of the files is refused, with the reason', async (t) => {
  const first = await starts(t, 'one')
  const id = (await idIn('one')).trim()
  for (const role of ['start', 'api', 'worker']) {
    const said = await refusal(role, 'two')
    assert.match(
      said,
      /^atrium: ATRIUM_DATA_DIR: .* has none\. Mount that folder here, or use S3: [^\n]*docs\/storage\.md\)\n$/,
      role,
    )
    assert.ok(said.includes(id), 'the id that is looked for')
  }
  await assert.rejects(idIn('two'), { code: 'ENOENT' }, 'a refused start makes no id')

  // Another installation's folder.
  await cp(join(folder, 'one'), join(folder, 'three'), { recursive: true })
  await writeFile(join(folder, 'three', 'blobs', '.atrium-folder'), 'another\n')
  assert.match(await refusal('api', 'three'), /has the id another\./)

  // A folder that several machines share.
  await starts(t, 'one', 'api')
  // The disk was replaced, and its content copied.
  await first.end()
  await cp(join(folder, 'one'), join(folder, 'copy'), { recursive: true })
  await starts(t, 'copy', 'api')
  assert.equal((await idIn('copy')).trim(), id)
})

test('two that start at once on separate disks do not both serve', async (t) => {
  const other = await createTestDatabase()
  t.after(() => other.drop())
  const started = await Promise.allSettled(
    ['left', 'right'].map((machine) =>
      startAtrium({ databaseUrl: other.url, role: 'api', env: { ATRIUM_DATA_DIR: join(folder, machine) } }),
    ),
  )
  const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  await Promise.all(running.map((atrium) => atrium.end()))
  assert.equal(running.length, 1)
  const failed = started.find((one) => one.status === 'rejected')
  assert.match(String(failed?.reason), /several machines cannot store files on separate disks/)
})
