import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { openProviderKeys } from './provider-keys.ts'

let api: TestApi
let tenant: TestTenant

before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})

after(() => api.close())

const put = (body: unknown, of = tenant) => send(api, 'PUT', '/tenant/provider-keys', { key: of.secretKey, body })
const show = (of = tenant) => send(api, 'GET', '/tenant/provider-keys', { key: of.secretKey })

test('a key is shown only by its last characters, and null removes it', async () => {
  const set = await put({ openai: 'sk-canary-0001-9xQ2', google: 'g-canary-0002' })
  assert.equal(set.status, 200)
  assert.deepEqual(Object.keys(set.body.data.providers).toSorted(), ['google', 'openai'])
  assert.equal(set.body.data.providers.openai.hint, '…9xQ2')
  assert.ok(!set.text.includes('canary'))
  assert.deepEqual((await show()).body.data, set.body.data)
  const removed = await put({ openai: null })
  assert.deepEqual(Object.keys(removed.body.data.providers), ['google'])
})

test('space around a key is not part of it', async () => {
  const set = await put({ anthropic: '\n a-canary-0012\r\n' })
  assert.equal(set.body.data.providers.anthropic.hint, '…0012')
  for (const body of [{ google: ' '.repeat(8) }, { openai_compatible: { url: 'https://models.example', key: '\nc-seven' } }]) {
    const got = await put(body)
    assert.deepEqual([got.status, got.body.error.code], [400, 'invalid_request'])
  }
})

test('another tenant does not see the key', async () => {
  await put({ anthropic: 'a-canary-0003' })
  const other = await api.makeTenant()
  assert.deepEqual((await show(other)).body.data, { providers: {} })
  assert.deepEqual((await openProviderKeys(api.ctx.db, api.ctx.vault, other.id)).keys, {})
})

test('a key is sealed at rest, and opens only for its tenant and provider', async () => {
  await put({ openai: 'sk-canary-0004', anthropic: 'a-canary-0005' })
  assert.equal((await openProviderKeys(api.ctx.db, api.ctx.vault, tenant.id)).keys['openai'], 'sk-canary-0004')
  const { rows } = await api.ctx.db.pool.query<{ row: string }>('select t::text as row from provider_keys t')
  const dump = rows.map(({ row }) => row).join('\n')
  for (const spelling of ['canary-000', Buffer.from('canary-000').toString('hex')]) assert.ok(!dump.includes(spelling))
  await api.ctx.db.pool.query(
    `update provider_keys a set key_sealed = b.key_sealed from provider_keys b
     where a.tenant_id = $1 and b.tenant_id = $1 and a.provider = 'openai' and b.provider = 'anthropic'`,
    [tenant.id],
  )
  await assert.rejects(openProviderKeys(api.ctx.db, api.ctx.vault, tenant.id))
})

test('an openai_compatible service is set with its address, which must be public', async () => {
  const set = await put({ openai_compatible: { url: 'https://models.example/v1/', key: 'c-canary-0006' } })
  assert.equal(set.body.data.providers.openai_compatible.url, 'https://models.example/v1')
  for (const url of ['http://models.example', 'https://127.0.0.1/v1', 'https://169.254.169.254', 'https://u:p@models.example']) {
    const got = await put({ openai_compatible: { url, key: 'c-canary-0007' } })
    assert.deepEqual([got.status, got.body.error.code], [400, 'invalid_request'], url)
  }
})

test('an address with a query or a fragment, to which no path can be appended, is refused, and its path is named', async () => {
  for (const end of ['?api-version=1', '?', '#v1', '/?a=b#c']) {
    const got = await put({ openai_compatible: { url: `https://models.example/v1${end}`, key: 'c-canary-0011' } })
    assert.deepEqual(
      [got.status, got.body.error.code, got.body.error.details[0].path],
      [400, 'invalid_request', '/openai_compatible/url'],
      end,
    )
    assert.match(got.body.error.message, /query or a fragment/)
  }
})

test('an unknown provider, an invalid key and an empty body are refused', async () => {
  const unsendable = [
    { openai: 'sk-canary\n-0008' },
    { google: 'g-canary\0-0009' },
    { openai_compatible: { url: 'https://models.example', key: 'c-canary\r\n-0010' } },
  ]
  for (const body of [{ acme: 'x'.repeat(20) }, { openai: 'short' }, { openai: 5 }, {}, ...unsendable]) {
    const got = await put(body)
    assert.deepEqual([got.status, got.body.error.code], [400, 'invalid_request'])
  }
})
