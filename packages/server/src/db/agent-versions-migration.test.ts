import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { after, before, test } from 'node:test'
import { Pool } from 'pg'
import { createTestDatabase, type TestDatabase } from '#testing/test-database.ts'
import { migrate } from './migrate.ts'

const migrations = fileURLToPath(new URL('../../../../migrations', import.meta.url))
const name = '0021-agent-versions.sql'

let older: string
let database: TestDatabase
let pool: Pool

before(async () => {
  older = await mkdtemp(path.join(tmpdir(), 'atrium-older-'))
  const files = (await readdir(migrations)).filter((file) => /^\d{4}-.*\.sql$/.test(file) && file < name)
  await Promise.all(files.map((file) => cp(path.join(migrations, file), path.join(older, file))))
  database = await createTestDatabase({ template: 'template0' })
  pool = new Pool({ connectionString: database.url })
})

after(async () => {
  await pool.end()
  await database.drop()
  await rm(older, { recursive: true })
})

test('earlier sessions keep the version of their agent, and each version is stored once', async () => {
  await migrate(pool, older)
  await pool.query(`insert into tenants (id, name, status) values ('ten_1', 'One', 'active')`)
  for (const id of ['agt_1', 'agt_2'])
    await pool.query(
      `insert into agents (tenant_id, id, name, description, instructions, tools, price_credits, max_minutes)
       values ('ten_1', $1, 'Echo', '', '', '[]', 1, 1)`,
      [id],
    )
  const [first, second] = [
    { name: 'Echo', endpoint: null },
    { name: 'Echo', endpoint: 'https://agents.example/' },
  ]
  const rows = [
    ['ses_1', 'agt_1', first, 'stopped'],
    ['ses_2', 'agt_1', first, 'failed'],
    ['ses_3', 'agt_1', second, 'running'],
    ['ses_4', 'agt_2', first, 'expired'],
  ] as const
  for (const [id, agentId, agent, status] of rows)
    await pool.query(
      `insert into sessions (tenant_id, id, agent_tenant_id, agent_id, agent, room, status, price, max_minutes, answered_seq, expires_at)
       values ('ten_1', $1, 'ten_1', $2, $3, $1, $4, 0, 1, -1, now())`,
      [id, agentId, JSON.stringify(agent), status],
    )
  assert.ok((await migrate(pool, migrations)).applied.includes('0021-agent-versions'))
  const after = await pool.query(
    `select s.id, s.is_remote, v.manifest, encode(v.version, 'hex') as version
     from sessions s join agent_versions v
       on v.tenant_id = s.agent_tenant_id and v.agent_id = s.agent_id and v.version = s.agent_version
     order by s.id`,
  )
  assert.deepEqual(
    after.rows,
    rows.map(([id, , manifest]) => ({
      id,
      is_remote: manifest === second,
      manifest,
      // The same text gives the same version at the next launch.
      version: hash('sha256', JSON.stringify(manifest), 'hex'),
    })),
  )
  assert.equal((await pool.query('select from agent_versions')).rowCount, 3)
})
