import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createTestDevice } from '@atrium/identity/testing/provider'
import { serveTestProvider } from '@atrium/identity/testing/serve-provider'
import { compactDecrypt, CompactEncrypt, exportJWK, generateKeyPair } from 'jose'
import { send, sendUntilServed, untilServed } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
let tenant: TestTenant
let key: string
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
  key = tenant.publishableKey
})
after(() => api.close())

interface Made {
  id: string
  owner: { key: string; collectionToken: string }
}

async function make(body: object = {}): Promise<Made> {
  const { data } = (await send(api, 'POST', '/collections', { key, body })).body
  return { id: data.id, owner: { key, collectionToken: data.admin_token } }
}
const add = (id: string, body: object, more: object = {}) => send(api, 'POST', `/collections/${id}/items`, { key, body, ...more })
const addUntilServed = (id: string, body: object) => {
  const idempotencyKey = randomUUID()
  return untilServed(() => add(id, body, { idempotencyKey }))
}
const list = async ({ id, owner }: Made, query = '') => (await send(api, 'GET', `/collections/${id}/items${query}`, owner)).body
const count = async ({ id }: Made) => (await send(api, 'GET', `/collections/${id}`, { key })).body.data.item_count

test('items are listed as they were added, oldest first, page by page without gap or repeat', async () => {
  const made = await make()
  const contents = [{ text: 'Grüße 🌍' }, [1, 2.5, null], 'plain', 0, false, { z: 1, a: { deep: [] } }, null]
  for (const content of contents) assert.equal((await add(made.id, { type: 'message', content, author: 'Ada' })).status, 201)
  const seen: unknown[] = []
  let cursor = ''
  do {
    const page = await list(made, `?limit=3${cursor}`)
    seen.push(...page.data.items.map((item: any) => item.content))
    cursor = page.meta.next_cursor ? `&cursor=${page.meta.next_cursor}` : ''
  } while (cursor)
  assert.deepEqual(seen, contents)
  assert.equal(await count(made), contents.length)
})

test('while items are added and deleted, the pages have each of the others once, in both orders', async () => {
  for (const order of ['oldest', 'newest']) {
    const made = await make()
    const ids: string[] = []
    for (let n = 0; n < 12; n++) ids.push((await add(made.id, { type: 'm', content: n })).body.data.id)
    const seen: string[] = []
    let deleted = new Set<string>()
    let cursor = ''
    do {
      const page = await list(made, `?limit=3&order=${order}${cursor}`)
      const found: string[] = page.data.items.map(({ id }: { id: string }) => id)
      seen.push(...found)
      // The last one of the page, where the next page begins, and one that was not seen yet.
      const unseen = ids.filter((id) => !seen.includes(id) && !deleted.has(id))[1]
      deleted = new Set([...deleted, found.at(-1)!, ...(unseen === undefined ? [] : [unseen])])
      for (const id of deleted) await send(api, 'DELETE', `/collections/${made.id}/items/${id}`, made.owner)
      if (seen.length < 9) await add(made.id, { type: 'm', content: 'new' })
      cursor = page.meta.next_cursor ? `&cursor=${page.meta.next_cursor}` : ''
    } while (cursor)
    assert.equal(new Set(seen).size, seen.length, 'none twice')
    assert.deepEqual(
      ids.filter((id) => !deleted.has(id) && !seen.includes(id)),
      [],
      'none lost',
    )
  }
})

test('hundreds of concurrent adds are each stored once, in one order without gaps', async () => {
  const made = await make()
  const answers = await Promise.all(Array.from({ length: 400 }, (_, i) => addUntilServed(made.id, { type: 'm', content: i })))
  assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([201]))
  assert.equal(await count(made), 400)
  const { rows } = await api.ctx.db.pool.query('select seq, id from items where collection_id = $1 order by seq', [made.id])
  assert.deepEqual(
    rows.map((row) => row.seq),
    Array.from({ length: 400 }, (_, i) => i + 1),
  )
  assert.deepEqual(new Set(rows.map((row) => row.id)), new Set(answers.map((answer) => answer.body.data.id)))
})

test('processes of the previous release, which check the token themselves, add items as before', async () => {
  const { id, owner } = await make({ contributor_policy: 'token' })
  const { rows } = await api.ctx.db.pool.query(
    `select outcome from add_counted_items(array[$1, $1], array[$2, 'col_none'], array['itm_a', 'itm_b'], array['m', 'm'],
       array['1', '2']::json[], array[null, null], array[null, null], array[null, null]::bytea[], array[null, null]::bytea[],
       array[null, null]::bytea[], array[null, null]::timestamptz[])`,
    [tenant.id, id],
  )
  assert.deepEqual(
    rows.map(({ outcome }) => outcome),
    ['added', 'not_found'],
  )
  assert.equal((await list({ id, owner })).data.items.length, 1)
})

test('no item is added after a close has been answered', async () => {
  const made = await make()
  const adds = Array.from({ length: 100 }, (_, i) => add(made.id, { type: 'm', content: i }))
  await send(api, 'POST', `/collections/${made.id}/state`, { ...made.owner, body: { state: 'closed' } })
  const atClose = await count(made)
  const answers = await Promise.all(adds)
  assert.equal(answers.filter((answer) => answer.status === 201).length, atClose)
  const late = await add(made.id, { type: 'm', content: 1 })
  assert.equal(late.body.error.code, 'collection_not_open')
  assert.equal(await count(made), atClose)
})

test('a replay after the close returns the first answer', async () => {
  const made = await make()
  const first = await add(made.id, { type: 'm', content: 1 }, { idempotencyKey: 'once' })
  await send(api, 'POST', `/collections/${made.id}/state`, { ...made.owner, body: { state: 'closed' } })
  const again = await add(made.id, { type: 'm', content: 1 }, { idempotencyKey: 'once' })
  assert.equal(again.text, first.text)
  assert.equal(again.headers.get('idempotency-status'), 'replayed')
})

test('item_count follows approval, archiving and deletion', async () => {
  const made = await make()
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push((await add(made.id, { type: 'm', content: i })).body.data.id)
  const curate = (id: string, body: object) => send(api, 'PATCH', `/collections/${made.id}/items/${id}`, { ...made.owner, body })
  await curate(ids[0]!, { approved: false })
  await curate(ids[1]!, { archived: true })
  assert.equal(await count(made), 1)
  await curate(ids[1]!, { archived: false, approved: false })
  await curate(ids[0]!, { approved: true })
  assert.equal(await count(made), 2)
  assert.equal((await send(api, 'DELETE', `/collections/${made.id}/items/${ids[0]}`, made.owner)).status, 204)
  assert.equal((await send(api, 'DELETE', `/collections/${made.id}/items/${ids[1]}`, made.owner)).status, 204)
  assert.equal((await send(api, 'DELETE', `/collections/${made.id}/items/${ids[1]}`, made.owner)).status, 404)
  assert.equal(await count(made), 1)
})

test('a collection has one hero, also after two concurrent requests', async () => {
  const made = await make()
  const ids = await Promise.all(
    Array.from({ length: 8 }, async (_, i) => (await addUntilServed(made.id, { type: 'm', content: i })).body.data.id),
  )
  const set = await Promise.all(
    ids.map((id) =>
      sendUntilServed(api, 'PATCH', `/collections/${made.id}/items/${id}`, { ...made.owner, body: { hero: true } }),
    ),
  )
  assert.deepEqual(new Set(set.map((answer) => answer.status)), new Set([200]))
  const { data } = await list(made)
  assert.equal(data.items.filter((item: any) => item.hero).length, 1)
})

test('content over 64 KiB is refused with its size', async () => {
  const made = await make()
  const refused = await add(made.id, { type: 'm', content: 'x'.repeat(65_535) })
  assert.equal(refused.status, 400)
  assert.equal(refused.body.error.details[0].path, '/content')
  assert.equal((await add(made.id, { type: 'm', content: 'x'.repeat(65_534) })).status, 201)
})

test('only the owner reads an item until its access allows others', async () => {
  const made = await make()
  const { id } = (await add(made.id, { type: 'm', content: 'hi' })).body.data
  const path = `/collections/${made.id}/items/${id}`
  assert.equal((await send(api, 'GET', path, { key })).status, 404)
  assert.equal((await send(api, 'GET', path, made.owner)).body.data.content, 'hi')
  await send(api, 'PATCH', path, { ...made.owner, body: { access: 'open' } })
  assert.equal((await send(api, 'GET', path, { key })).body.data.content, 'hi')
  await send(api, 'PATCH', path, { ...made.owner, body: { access: 'owner' } })
  assert.equal((await send(api, 'GET', path, { key })).status, 404)
})

for (const kind of ['EC', 'OKP'] as const) {
  test(`a box (${kind}) stores what only its recipient can read`, async () => {
    const crv = kind === 'EC' ? 'P-256' : 'X25519'
    const { publicKey, privateKey } = await generateKeyPair('ECDH-ES+A256KW', { crv, extractable: true })
    const recipient = await exportJWK(publicKey)
    const made = await make({ box: { recipient } })
    const plain = { type: 'message', content: { text: 'canary-plaintext' }, author: 'Canary Author' }
    assert.deepEqual((await add(made.id, plain)).body.data, { ok: true })
    const own = await new CompactEncrypt(new TextEncoder().encode('{"mine":1}'))
      .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM' })
      .encrypt(publicKey)
    assert.deepEqual((await add(made.id, { type: 'sealed', content: own })).body.data, { ok: true })

    const { items } = (await list(made)).data
    assert.deepEqual(
      items.map((item: any) => [item.type, item.author]),
      [
        ['sealed', null],
        ['sealed', null],
      ],
    )
    const open = async (jwe: string) => JSON.parse(new TextDecoder().decode((await compactDecrypt(jwe, privateKey)).plaintext))
    assert.deepEqual(await open(items[0].content), plain)
    assert.deepEqual(await open(items[1].content), { mine: 1 })
    const { rows } = await api.ctx.db.pool.query<{ row: string }>(
      'select items::text as row from items where collection_id = $1',
      [made.id],
    )
    assert.equal(
      rows.some((row) => /canary/i.test(row.row)),
      false,
    )
  })
}

test('sealed content that is not a JWE of the box is refused', async () => {
  const recipient = await exportJWK((await generateKeyPair('ECDH-ES+A256KW', { crv: 'X25519', extractable: true })).publicKey)
  const made = await make({ box: { recipient } })
  for (const content of ['plain text', 'a.b.c.d.e', 'e30.e30.e30.e30.e30', { text: 'x' }, '....']) {
    assert.equal((await add(made.id, { type: 'sealed', content })).status, 400, JSON.stringify(content))
  }
})

test('listed accounts read an e-mail item with a token bound to their device, and other accounts get the reason for the refusal', async () => {
  const served = await serveTestProvider({ audience: 'atrium-test' })
  const { provider } = served
  const identified = await startTestApi({ oidcIssuer: provider.issuer, oidcClientId: 'atrium-test' })
  try {
    const { publishableKey } = await identified.makeTenant()
    const data = (await send(identified, 'POST', '/collections', { key: publishableKey, body: {} })).body.data
    const owner = { key: publishableKey, collectionToken: data.admin_token }
    const item = await send(identified, 'POST', `/collections/${data.id}/items`, {
      key: publishableKey,
      body: { type: 'm', content: 'for Ada' },
    })
    const path = `/collections/${data.id}/items/${item.body.data.id}`
    const patched = await send(identified, 'PATCH', path, {
      ...owner,
      body: { access: 'email', grant: ['ada@example.com', 'bob@example.com'], revoke: ['bob@example.com'] },
    })
    assert.equal(patched.status, 200)

    const device = await createTestDevice()
    const read = async (email: string | undefined, nonce = device.nonce) => {
      if (email === undefined) return send(identified, 'GET', path, { key: publishableKey })
      const token = await provider.sign({ email, email_verified: true, nonce, aud: 'atrium-test' })
      return send(identified, 'GET', path, {
        key: publishableKey,
        headers: { 'x-id-token': token, 'x-spk': JSON.stringify(device.spk) },
      })
    }
    assert.equal((await read('Ada@Example.com')).body.data.content, 'for Ada')
    const reasons = [
      await read(undefined),
      await read('ada@example.com', 'other'),
      await read('bob@example.com'),
      await read('eve@example.com'),
    ]
    assert.deepEqual(
      reasons.map(({ status, body }) => [status, body.error.code, body.error.reason]),
      [
        [403, 'not_authorized', 'unsigned'],
        [403, 'not_authorized', 'nonce_mismatch'],
        [403, 'not_authorized', 'revoked'],
        [403, 'not_authorized', 'not_on_list'],
      ],
    )
    const { rows } = await identified.ctx.db.pool.query<{ row: string }>('select items::text as row from items')
    assert.equal(
      rows.some((row) => /example\.com/.test(row.row)),
      false,
    )
  } finally {
    await identified.close()
    served.close()
  }
})
