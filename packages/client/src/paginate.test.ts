import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createClient } from './create-client.ts'
import { paginate } from './paginate.ts'
import { pullEvents } from './pull-events.ts'
import { errorAnswer, failureOf, startScriptedServer } from './testing/scripted-server.ts'

const server = await startScriptedServer()
after(() => server.stop())

const client = createClient({ baseUrl: server.origin, key: 'wsk_test' })
const queries = () => server.seen.map(({ line }) => line.split('?')[1])

test('yields every entry of a list, page by page, with the other parameters unchanged', async () => {
  server.script(
    { body: { data: [{ id: 'art_1' }, { id: 'art_2' }], meta: { next_cursor: 'c&1' } } },
    { body: { data: [{ id: 'art_3' }] } },
  )
  const ids: string[] = []
  for await (const artifact of paginate(client.listArtifacts, { id: 'col_1', query: { limit: 2 } })) ids.push(artifact.id)
  assert.deepEqual(ids, ['art_1', 'art_2', 'art_3'])
  assert.deepEqual(queries(), ['limit=2', 'limit=2&cursor=c%261'])
})

test('reads `data.items` if the data is an object, and fetches no page that is not needed', async () => {
  server.script({ body: { data: { items: [{ id: 'itm_1' }] }, meta: { next_cursor: 'more' } } })
  for await (const item of paginate(client.listItems, { id: 'col_1', collectionToken: 'cat_test' })) {
    assert.equal(item.id, 'itm_1')
    break
  }
  assert.equal(server.seen.length, 1)
})

test('if a list is requested with a body, the cursor is sent in the body', async () => {
  server.script({ body: { data: [{ id: 'rct_1' }], meta: { next_cursor: 'c' } } }, { body: { data: [{ id: 'rct_2' }] } })
  const ids: string[] = []
  for await (const receipt of paginate(client.lookUpReceipts, { body: { wallet_code: 'wlt_1', limit: 1 } })) ids.push(receipt.id)
  assert.deepEqual(ids, ['rct_1', 'rct_2'])
  assert.deepEqual(
    server.seen.map(({ line, body }) => [line, JSON.parse(body)]),
    [undefined, 'c'].map((cursor) => ['POST /v1/receipts/lookup', { wallet_code: 'wlt_1', limit: 1, ...(cursor && { cursor }) }]),
  )
})

test('throws the error of the call', async () => {
  server.script(errorAnswer(400, 'invalid_cursor'))
  assert.equal((await failureOf(paginate(client.listArtifacts, { id: 'col_1' }).next())).code, 'invalid_cursor')
})

test('an abort ends the iteration at once, also within a page', async () => {
  const page = { body: { data: [{ id: 'art_1' }, { id: 'art_2' }, { id: 'art_3' }], meta: { next_cursor: 'c' } } }
  const events = { body: { data: [{ sequence: 1 }, { sequence: 2 }] } }
  const lists = [
    (signal: AbortSignal) => paginate(client.listArtifacts, { id: 'col_1', signal }),
    (signal: AbortSignal) => pullEvents(client.listEvents, { signal }),
  ]
  for (const [at, list] of lists.entries()) {
    server.script(at === 0 ? page : events)
    const stop = new AbortController()
    const seen: unknown[] = []
    const read = async () => {
      for await (const entry of list(stop.signal)) {
        seen.push(entry)
        stop.abort(new Error('enough'))
      }
    }
    await assert.rejects(read(), /^Error: enough$/)
    assert.deepEqual([seen.length, server.seen.length], [1, 1])
  }
})

test('events are pulled from the one that was handled last on, until there is nothing new', async () => {
  const events = [8, 9, 12].map((sequence) => ({
    sequence,
    type: 'collection.deleted',
    data: { collection_id: `col_${sequence}` },
  }))
  server.script({ body: { data: events.slice(0, 2) } }, { body: { data: events.slice(2) } }, { body: { data: [] } })
  const got: string[] = []
  for await (const event of pullEvents(client.listEvents, { after: 7 })) {
    if (event.type === 'collection.deleted') got.push(event.data.collection_id)
  }
  assert.deepEqual(got, ['col_8', 'col_9', 'col_12'])
  assert.deepEqual(queries(), ['after=7&limit=200', 'after=9&limit=200', 'after=12&limit=200'])
})
