import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase, urlOfDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium } from '../support/atrium-process.ts'
import { call, makeCollection, makeTenant } from '../support/call-api.ts'
import { queryDatabase } from '../support/query-database.ts'

test('while PostgreSQL refuses every log-in, calls are 503, and the same processes serve again once it admits them', async (t) => {
  const database = await createTestDatabase()
  const atrium = await startAtrium({ databaseUrl: database.url, space: true })
  t.after(async () => {
    await atrium.end('SIGKILL')
    await database.drop()
  })
  const { origin } = atrium
  const { publishable: key } = await makeTenant(origin)
  const { id } = await makeCollection(origin, key)
  const body = { type: 'message', content: { text: 'Hello' } }
  const item = () => call(origin, `POST /v1/collections/${id}/items`, { key, idempotencyKey: randomUUID(), body })
  const read = () => call(origin, `GET /v1/collections/${id}`, { key })
  const room = { room: `quay-${randomUUID()}`, mk: randomBytes(32).toString('base64url') }
  const turn = () => {
    const message = { text: 'Hello', client_id: randomUUID() }
    return call(origin, 'POST /v1/space', { body: { op: 'turn', ...room, message } })
  }
  const askAll = () => Promise.all([item(), read(), turn()])
  for (const { status, text } of await askAll()) assert.ok(status < 300, text)

  const name = new URL(database.url).pathname.slice(1)
  const administer = (sql: string) => queryDatabase(urlOfDatabase(database.url, 'postgres'), sql)
  await administer(`alter database "${name}" allow_connections false`)
  await administer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
  for (let round = 0; round < 10; round++) for (const { status, text } of await askAll()) assert.equal(status, 503, text)
  assert.equal((await call(origin, 'GET /readyz')).status, 503)

  await administer(`alter database "${name}" allow_connections true`)
  for (const deadline = Date.now() + 20_000; (await askAll()).some(({ status }) => status >= 300); await delay(100))
    assert.ok(Date.now() < deadline, atrium.output().slice(-2_000))
})
