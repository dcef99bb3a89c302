import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi } from '#testing/test-api.ts'

test('a tenant whose lists wait for the database leaves another tenant’s lists alone', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const [slow, other] = [await api.makeTenant(), await api.makeTenant()]
  const { id, admin_token: token } = (await send(api, 'POST', '/collections', { key: slow.secretKey, body: {} })).body.data
  const list = () =>
    send(api, 'GET', `/collections/${id}/items`, { key: slow.secretKey, headers: { 'x-collection-token': token } })
  const agents = () => send(api, 'GET', '/../agents', { key: other.secretKey })
  assert.deepEqual([(await list()).status, (await agents()).status], [200, 200])

  const { pool } = api.ctx.db
  const locker = await pool.connect()
  await locker.query('begin; lock table items in access exclusive mode')
  let endedCount = 0
  const lists = Array.from({ length: 12 }, () => list().finally(() => endedCount++))
  // The view has the locks of all databases, and tables of the clones of one template have the same oid.
  const waiting = `select from pg_locks join pg_database d on d.oid = database
    where d.datname = current_database() and relation = 'items'::regclass and not granted`
  while ((await pool.query(waiting)).rowCount === 0);
  const answers: [number, boolean][] = []
  for (let i = 0; i < 5; i++) answers.push([(await agents()).status, endedCount === 0])
  await locker.query('rollback')
  locker.release()
  await Promise.all(lists)
  assert.deepEqual(answers, Array(5).fill([200, true]), 'while all lists of the other wait')
})
