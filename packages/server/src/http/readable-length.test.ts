import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError, send } from '#testing/http.ts'
import { startTestApi } from '#testing/test-api.ts'

test('a text, a list or an object that is empty is called so', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const { publishableKey: key } = await api.makeTenant()
  const { id, admin_token: collectionToken } = (await send(api, 'POST', '/collections', { key, body: {} })).body.data
  for (const [path, body, where, message] of [
    ['items', { type: 'a', content: 1, author: '' }, '/author', 'must not be empty'],
    ['items/bulk', { ids: [], patch: { approved: true } }, '/ids', 'must not be empty'],
    ['state', {}, '', 'must not be empty'],
    ['items', { type: 'a', content: 1, author: 'a'.repeat(121) }, '/author', 'must not have more than 120 characters'],
  ] as const) {
    const refused = await send(api, 'POST', `/collections/${id}/${path}`, { key, collectionToken, body })
    assertError(refused, 400, 'invalid_request')
    const detail = refused.body.error.details.find((one: { path: string }) => one.path === where)
    assert.equal(detail?.message, message, refused.text)
  }
})
