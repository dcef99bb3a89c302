import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const day = 86_400
const inDays = (days: number) => new Date(Date.now() + days * day * 1_000).toISOString()
const week = `expiring_before=${inDays(7)}`

async function makeTenant() {
  const { id, secretKey: key } = await api.makeTenant()
  const make = async (body: object = {}) => {
    const made = await send(api, 'POST', '/tenant/keys', { key, body: { kind: 'publishable', ...body } })
    assert.equal(made.status, 201, made.text)
    return made.body.data.id as string
  }
  const revoke = (keyId: string) => send(api, 'DELETE', `/tenant/keys/${keyId}`, { key })
  const list = (query: string) => send(api, 'GET', `/tenant/keys?${query}`, { key })
  const ids = async (query = week) => (await list(query)).body.data.map((listed: any) => listed.id) as string[]
  return { id, make, revoke, list, ids }
}

test('keys that end within the time are listed, however many other keys are valid', async () => {
  const { id, make, revoke, ids } = await makeTenant()
  const soon = await make({ expires_at: inDays(1) })
  await make({ expires_at: inDays(8) })
  await revoke(await make({ expires_at: inDays(1) }))
  await (await makeTenant()).make({ expires_at: inDays(1) })
  await api.ctx.db.pool.query(
    `insert into api_keys (tenant_id, id, kind, hint, key_hash, expires_at)
     select $1, 'key_' || n, 'secret', 'wsk_…0000', sha256(n::text::bytea), case n when 1 then now() - interval '1 second' end
     from generate_series(1, 1001) n`,
    [id],
  )
  assert.deepEqual(await ids(), [soon])
  assert.equal((await ids('limit=200')).includes(soon), false)
})

test('a rotated key is meant to end, as long as a key that followed it is valid', async () => {
  const { make, revoke, ids } = await makeTenant()
  const old = await make()
  const next = await make({ rotates: old, overlap_seconds: day })
  const last = await make({ rotates: next, overlap_seconds: 2 * day })
  assert.deepEqual(await ids(), [])
  await revoke(last)
  assert.deepEqual(await ids(), [next])
  await revoke(next)
  assert.deepEqual(await ids(), [old])
})

test('of several pages, the first one has the keys that end first', async () => {
  const { make, list, ids } = await makeTenant()
  const [third, first, second] = [
    await make({ expires_at: inDays(3) }),
    await make({ expires_at: inDays(1) }),
    await make({ expires_at: inDays(2) }),
  ]
  assert.deepEqual(await ids(), [third, first, second], 'a page is oldest first')
  const pages: string[][] = []
  for (let cursor = ''; ;) {
    const { body } = await list(`limit=2&${week}${cursor && `&cursor=${cursor}`}`)
    pages.push(body.data.map((listed: any) => listed.id))
    cursor = body.meta?.next_cursor ?? ''
    if (cursor === '') break
  }
  assert.deepEqual(pages, [[first, second], [third]])
  const { next_cursor: cursor } = (await list(`limit=2&${week}`)).body.meta
  for (const query of [`cursor=${cursor}`, `cursor=${cursor}&expiring_before=${inDays(2)}`])
    assert.equal((await list(query)).body.error.code, 'invalid_cursor', query)
  const wrong = await list('expiring_before=soon')
  assert.deepEqual([wrong.status, wrong.body.error.code], [400, 'invalid_request'])
})
