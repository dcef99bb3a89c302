import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError, send } from '#testing/http.ts'
import { startTestApi } from '#testing/test-api.ts'

test('an empty value is called so, and a value of another form is answered with what to write', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const { publishableKey: key } = await api.makeTenant()
  const { id, admin_token: collectionToken } = (await send(api, 'POST', '/collections', { key, body: {} })).body.data
  for (const [path, body, where, message] of [
    ['items', { type: 'a', content: 1, author: '' }, '/author', 'must not be empty'],
    ['items/bulk', { ids: [], patch: { approved: true } }, '/ids', 'must not be empty'],
    ['state', {}, '', 'must not be empty'],
    ['items', { type: 'a', content: 1, author: 'a'.repeat(121) }, '/author', 'must not have more than 120 characters'],
    ['items', { type: 'A B', content: 1 }, '/type', 'must have 1 to 64 characters of a-z, 0-9, ".", _ and -'],
  ] as const) {
    const refused = await send(api, 'POST', `/collections/${id}/${path}`, { key, collectionToken, body })
    assertError(refused, 400, 'invalid_request')
    const detail = refused.body.error.details.find((one: { path: string }) => one.path === where)
    assert.equal(detail?.message, message, refused.text)
  }
})
