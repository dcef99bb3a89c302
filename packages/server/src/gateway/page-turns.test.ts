import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passesOnce } from '#testing/busy-machine.ts'
import { send } from '#testing/http.ts'
import { startTestApi } from '#testing/test-api.ts'
import { untilBlocked } from '#testing/until-blocked.ts'

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
  // The lists give up after some seconds, which a slow machine may need for the others.
  await passesOnce(async () => {
    const locker = await pool.connect()
    await locker.query('begin; lock table items in access exclusive mode')
    let endedCount = 0
    const lists = Array.from({ length: 12 }, () => list().finally(() => endedCount++))
    const answers: [number, boolean][] = []
    try {
      await untilBlocked(pool)
      for (let i = 0; i < 5; i++) answers.push([(await agents()).status, endedCount === 0])
    } finally {
      await locker.query('rollback')
      locker.release()
    }
    await Promise.all(lists)
    assert.deepEqual(answers, Array(5).fill([200, true]), 'while all lists of the other wait')
  })
})
