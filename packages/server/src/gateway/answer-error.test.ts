import assert from 'node:assert/strict'
import { after, before, mock, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

test('what is refused on purpose is a warning of one line; a fault is an error with its cause', async (t) => {
  const { log, streams, db } = api.ctx
  const [warn, error] = [mock.method(log, 'warn'), mock.method(log, 'error')]
  t.after(() => mock.restoreAll())
  const { secretKey: key } = await api.makeTenant()
  assert.equal((await send(api, 'GET', '/tenant', { key })).status, 200)
  await streams.close()
  const stopping = await send(api, 'GET', '/events/stream', { key })
  assert.deepEqual([stopping.status, stopping.headers.get('retry-after')], [503, '1'])
  assert.deepEqual(
    warn.mock.calls.map(({ arguments: [fields, text] }) => [Object.keys(fields as object), text]),
    [[['request_id', 'method', 'route'], 'refused: This process is stopping.']],
  )
  assert.equal(error.mock.callCount(), 0)
  mock.method(db, 'query', () => Promise.reject(Object.assign(new Error('the disk is full'), { code: 'ENOSPC' })))
  const fault = await send(api, 'GET', '/collections', { key })
  assert.equal(fault.status, 503, fault.text)
  assert.equal(warn.mock.callCount(), 1)
  const logged = error.mock.calls.map(({ arguments: [fields] }) => (fields as { err: Error }).err.message)
  assert.deepEqual(logged, ['the disk is full'])
})
