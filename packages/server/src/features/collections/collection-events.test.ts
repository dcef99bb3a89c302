import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => (api = await startTestApi()))
after(() => api.close())

test('a collection reports that it was created, what changed and that an artifact was deleted, and no content', async () => {
  const { publishableKey: key, secretKey } = await api.makeTenant()
  const body = { metadata: { share_title: 'Private title' }, item_access: 'open' }
  const { id, admin_token: collectionToken } = (await send(api, 'POST', '/collections', { key, body })).body.data
  const owner = { key, collectionToken }
  const path = `/collections/${id}`
  const patch = (fields: object) => send(api, 'PATCH', path, { ...owner, body: fields })
  await patch({ metadata: { share_title: 'Another' }, wall: true })
  await patch({ wall: true })
  await patch({ contributor_policy: 'token' })
  const made = await send(api, 'POST', `${path}/artifacts`, { ...owner, body: { kind: 'image', url: 'https://a.example/b.png' } })
  const artifact = made.body.data.id
  const patched = await send(api, 'PATCH', `${path}/artifacts/${artifact}`, { ...owner, body: { published: true } })
  assert.deepEqual([patched.body.data.ok, patched.body.data.id, patched.body.data.published], [true, artifact, true])
  await send(api, 'DELETE', `${path}/artifacts/${artifact}`, owner)
  const item = (await send(api, 'POST', `${path}/items`, { ...owner, body: { type: 'message', content: 'Hi' } })).body.data.id
  const curated = await send(api, 'PATCH', `${path}/items/${item}`, { ...owner, body: { hero: true } })
  assert.deepEqual([curated.body.data.ok, curated.body.data.hero, curated.body.data.content], [true, true, 'Hi'])
  await send(api, 'POST', `${path}/tokens`, { key: secretKey, body: { rotate: ['admin_token'] } })

  const events: any[] = (await send(api, 'GET', '/events?limit=200', { key: secretKey })).body.data
  const told = events.filter(({ type }) => type === 'collection.created' || type === 'collection.updated')
  const state = { collection_id: id, state: 'open', contributor_policy: 'open', item_access: 'open', wall: false }
  assert.deepEqual(
    told.map(({ data }) => data),
    [
      state,
      { ...state, wall: true, changed: ['metadata', 'wall'] },
      { ...state, wall: true, contributor_policy: 'token', changed: ['contributor_policy', 'contributor_token'] },
      { ...state, wall: true, contributor_policy: 'token', changed: ['admin_token'] },
    ],
  )
  const deleted = events.find(({ type }) => type === 'artifact.deleted')
  assert.deepEqual(deleted.data, { collection_id: id, artifact_id: artifact })
  for (const secret of ['Private title', 'Another', collectionToken]) assert.equal(JSON.stringify(events).includes(secret), false)
})
