import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { insertSweeps } from '#features/installation/sweep-store.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { startBeat } from './beat.ts'
import { runLeased } from './sweeping/run-leased.ts'

let api: TestApi
let operator: { headers: Record<string, string> }
before(async () => {
  api = await startTestApi()
  operator = { headers: { 'x-admin-token': api.adminToken } }
})
after(() => api.close())

const get = async (path: string) => {
  const answer = await send(api, 'GET', path, operator)
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}
const run = (sql: string) => api.ctx.db.pool.query(sql)

async function listed(count: number) {
  for (let tries = 0; tries < 100; tries++) {
    const { data } = await get('/operator/processes')
    if (data.length === count) return data
    await delay(20)
  }
  throw new Error(`there were never ${count} processes`)
}

test('a process is listed while it runs; one that was killed is silent, and goes after a day', async () => {
  const stop = startBeat(api.ctx, 'api')
  const [own] = await listed(1)
  assert.deepEqual([own.role, own.state, own.pid, own.node], ['api', 'running', process.pid, process.versions.node])
  assert.match(own.version, /^\d+\.\d+\.\d+/)
  assert.ok(own.memory_bytes > 10_000_000)
  await run(`insert into processes (id, role, host, pid, version, node, memory_bytes, started_at, beat_at)
    select gen_random_uuid(), 'worker', 'gone', 1, '0.1.0', '24', 1, now() - i * interval '1 minute', now() - interval '31 seconds'
    from generate_series(1, 3) i`)
  const first = await get('/operator/processes?limit=2')
  const second = await get(`/operator/processes?limit=2&cursor=${first.meta.next_cursor}`)
  const states = [...first.data, ...second.data].map(({ host, state }: { host: string; state: string }) => `${host} ${state}`)
  assert.equal(states.filter((state) => state === 'gone silent').length, 3)
  assert.equal(states.length, 4)
  await stop()
  await listed(3)
  await run(`update processes set beat_at = now() - interval '25 hours'`)
  await startBeat(api.ctx, 'worker')()
  await listed(0)
})

test('a process that was killed goes after a day, also where no process starts', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const stop = startBeat(api.ctx, 'api')
  const [{ beat_at: first }] = await listed(1)
  // The second beat follows the deletion of the start.
  t.mock.timers.tick(10_000)
  for (let tries = 0; (await listed(1))[0].beat_at === first; tries++) assert.ok(tries < 100, 'there is a second beat')
  const leave = (age: string) =>
    run(`insert into processes (id, role, host, pid, version, node, memory_bytes, started_at, beat_at)
      values (gen_random_uuid(), 'worker', 'gone', 1, '0.1.0', '24', 1, now() - interval '2 days', now() - interval '${age}')`)
  await leave('25 hours')
  await leave('23 hours')
  await listed(3)
  t.mock.timers.tick(10 * 60_000)
  await listed(2)
  await stop()
  await listed(1)
  await run('delete from processes')
})

test('a process that was killed before the clock was set back is silent, seals under no key, and goes after a day', async () => {
  const leave = (ahead: string) =>
    run(`insert into processes (id, role, host, pid, version, node, memory_bytes, started_at, beat_at, sealing_key)
      values (gen_random_uuid(), 'worker', 'gone', 1, '0.1.0', '24', 1, now(), now() + interval '${ahead}',
        '${api.ctx.vault.keyIds[0].toString('hex')}')`)
  await leave('1 second')
  const sealing = async () => {
    const { status, body } = await send(api, 'POST', '/operator/reseal', operator)
    assert.equal(status, 200)
    return body.data.keys.map(({ processes }: { processes: number }) => processes)
  }
  assert.deepEqual(await sealing(), [1])
  await run('delete from processes')
  await leave('1 hour')
  const [gone] = await listed(1)
  assert.equal(gone.state, 'silent')
  assert.deepEqual(await sealing(), [0])
  await run(`update processes set beat_at = now() + interval '25 hours'`)
  await startBeat(api.ctx, 'worker')()
  await listed(0)
})

test('queues show what is due; sweeps show their last run and failure', async () => {
  await insertSweeps(api.ctx.db, [
    { name: 'good', intervalMs: 5_000 },
    { name: 'bad', intervalMs: 60_000 },
  ])
  const sweep = (name: string, work: () => Promise<void>) =>
    runLeased({ db: api.ctx.db, name, holder: 'me', intervalMs: 0, run: work, onRanAt: () => undefined })
  await sweep('good', async () => undefined)
  await assert.rejects(sweep('bad', () => Promise.reject(new Error('no'))))
  await run(`insert into blob_deletions (tenant_id, target, queued_at) values ('t', 'k', now() - interval '1 minute')`)
  const { queues, sweeps } = (await get('/operator/queues')).data
  const queue = queues.find(({ name }: { name: string }) => name === 'blob_deletions')
  assert.equal(queue.depth, 1)
  assert.ok(queue.oldest_seconds >= 60 && queue.oldest_seconds < 90)
  const [bad, good] = sweeps
  assert.deepEqual([bad.name, bad.ran_at, bad.late], ['bad', null, false])
  assert.match(bad.failed_at, /^20/)
  assert.deepEqual([good.name, good.failed_at, good.interval_seconds, good.late], ['good', null, 5, false])
  await run(`update sweep_leases set ran_at = now() - interval '76 seconds' where name = 'good'`)
  const later = (await get('/operator/queues')).data.sweeps
  assert.deepEqual([later[1].late, later[1].running], [true, false])
})

test('the versions wait for no lock: the call fails soon, and nothing of it is left in the database', async () => {
  const holder = await api.ctx.db.pool.connect()
  await holder.query('begin; lock table schema_function in access exclusive mode')
  try {
    const { status, body } = await send(api, 'GET', '/operator/versions', operator)
    assert.deepEqual([status, body.error.code], [503, 'unavailable'])
    // A part of it could come to the lock after the answer.
    for (let tries = 0; tries < 20; tries++) {
      const { rows } = await api.ctx.db.pool.query(
        `select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      assert.deepEqual(rows, [])
      await delay(20)
    }
  } finally {
    holder.release(true)
  }
  await get('/operator/versions')
})

test('versions name the release, the database and what it has', async () => {
  const { data } = await get('/operator/versions')
  assert.match(data.postgresql, /^\d+/)
  assert.equal(data.node, process.versions.node)
  assert.deepEqual(data.schema.pending, [])
  assert.match(data.schema.newest, /^\d{4}-/)
  assert.ok(
    data.functions.some(({ name, version }: { name: string; version: number }) => name === 'apply-transfers' && version > 0),
  )
})
