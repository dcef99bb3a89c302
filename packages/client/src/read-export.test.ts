import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createClient } from './create-client.ts'
import { readExport } from './read-export.ts'
import { errorAnswer, startScriptedServer } from './testing/scripted-server.ts'

const server = await startScriptedServer()
after(() => server.stop())

const client = createClient({ baseUrl: server.origin, key: 'wpk_test', retries: 0 })
const input = { id: 'col_4fRzK0vXcB1mQwErTy7uPa', collectionToken: 'cat_x' }
const head = { format: 'atrium.items', version: 1, collection_id: input.id, exported_at: '2026-11-20T10:00:00.000Z', filters: {} }
const item = (content: unknown) => ({ id: 'itm_4fRzK0vXcB1mQwErTy7uPa', content })
const scripted = (...lines: unknown[]) => ({
  headers: { 'content-type': 'application/x-ndjson' },
  body: lines.map((line) => (typeof line === 'string' ? line : `${JSON.stringify(line)}\n`)).join(''),
})

async function read(): Promise<unknown[]> {
  const contents: unknown[] = []
  for await (const { content } of readExport(client.exportItems, { ...input, query: { type: 'photo' } })) contents.push(content)
  return contents
}

test('an export is read item by item, without its first and last line and the spaces that it was held with', async () => {
  server.script(scripted(head, '  ', item('Grüße\n🌍'), item(null), ' ', { end: true, items: 2 }))
  assert.deepEqual(await read(), ['Grüße\n🌍', null])
  assert.equal(server.seen[0]!.line, `GET /v1/collections/${input.id}/export?type=photo`)
  assert.equal(server.seen[0]!.headers['x-collection-token'], 'cat_x')
})

test('an export that was cut is an error, and so is one that was refused', async () => {
  const whole = JSON.stringify({ end: true, items: 1 })
  for (const lines of [[], [head], [head, item(1)], [head, item(1), whole], [head, { end: true, items: 1 }]]) {
    server.script(scripted(...lines))
    await assert.rejects(read(), { name: 'NetworkError' })
  }
  server.script(errorAnswer(403, 'owner_token_required'))
  await assert.rejects(read(), { name: 'OwnerTokenRequiredError' })
})

test('who stops early or aborts ends it', async () => {
  server.script(scripted(head, item(1), item(2)))
  for await (const { content } of readExport(client.exportItems, input)) {
    assert.equal(content, 1)
    break
  }
  server.script(scripted(head, item(1), item(2), { end: true, items: 2 }))
  const stop = new AbortController()
  const contents: unknown[] = []
  const untilAborted = async () => {
    for await (const { content } of readExport(client.exportItems, { ...input, signal: stop.signal })) {
      contents.push(content)
      stop.abort(new Error('stopped'))
    }
  }
  await assert.rejects(untilAborted(), /^Error: stopped$/)
  assert.deepEqual(contents, [1])
  server.script({ hang: true })
  const reason = new Error('enough')
  const signal = AbortSignal.timeout(50)
  signal.addEventListener('abort', () => undefined)
  const aborted = AbortSignal.any([signal])
  await assert.rejects(readExport(client.exportItems, { ...input, signal: aborted }).next(), { name: 'TimeoutError' })
  await assert.rejects(readExport(client.exportItems, { ...input, signal: AbortSignal.abort(reason) }).next(), reason)
})
