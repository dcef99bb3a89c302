import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import pg from 'pg'
import { migrate } from '../../server/src/db/migrate.ts'
import { startThrowawayPostgres } from '../../server/testing/throwaway-postgres.ts'
import { ensureBuilt } from './ensure-built.ts'
import { temporaryFolder } from './testing/copy-tree.ts'

/** The tests' own PostgreSQL asks for no password. Those of operators do. */
const folder = await temporaryFolder(after)
await chmod(folder, 0o755) // PostgreSQL runs as another user.
await writeFile(join(folder, 'pg_hba.conf'), 'local all guest scram-sha-256\nlocal all all trust\n', { mode: 0o644 })
const server = await startThrowawayPostgres({ hba_file: join(folder, 'pg_hba.conf') })
after(() => server.stop())
const pool = new pg.Pool({ connectionString: server.connectionString, max: 1 })
await migrate(pool)
await pool.query("create role guest superuser login password 'open sesame'")
await pool.end()

/** Runs the bundle as `guest`; resolves with what it says first. */
async function start(t: TestContext, password: string): Promise<{ listening?: number; failed?: string }> {
  const { bundlePath } = await ensureBuilt()
  const url = new URL(server.connectionString)
  url.username = 'guest'
  url.password = password
  const env = { DATABASE_URL: url.href, SPACE_PORT: '0', ATRIUM_DATA_DIR: await temporaryFolder(t.after.bind(t)) }
  const child = fork(bundlePath, [], { env, execArgv: ['--disallow-code-generation-from-strings'] })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill()
    await ended
  })
  const [message] = (await once(child, 'message')) as [{ listening?: number; failed?: string }]
  return message
}

test('the bundle signs in to PostgreSQL with a password by SCRAM, writes a room and reads it', async (t) => {
  const { listening, failed } = await start(t, 'open sesame')
  assert.equal(failed, undefined)
  const secret = { room: 'lantern', mk: randomBytes(16).toString('base64url') }
  const call = async (op: string, fields: object) => {
    const body = JSON.stringify({ op, ...secret, ...fields })
    const res = await fetch(`http://127.0.0.1:${listening}/space`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    return (await res.json()) as { count: number; entries: { seq: number; message: { text: string } }[] }
  }
  await call('turn', { message: { text: 'hello' } })
  const { count, entries } = await call('poll', {})
  assert.deepEqual([count, entries.map(({ seq, message }) => [seq, message.text])], [2, [[1, 'hello']]])
})

test('with a wrong password it does not start, and says why', async (t) => {
  assert.match((await start(t, 'wrong')).failed ?? '', /password authentication failed/)
})
