import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { consoleLink, signIn } from '#testing/console.ts'
import { send, untilServed } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { untilBlocked } from '#testing/until-blocked.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

test('a revocation waits for no other key of the tenant', async () => {
  const { id: tenantId, secretKey: key } = await api.makeTenant()
  const made = async (kind: string) => (await send(api, 'POST', '/tenant/keys', { key, body: { kind } })).body.data.id as string
  const revoked = [await made('secret'), await made('publishable')]
  const holder = await api.ctx.db.pool.connect()
  try {
    await holder.query('begin')
    await holder.query('select from api_keys where tenant_id = $1 and id <> all($2) for no key update', [tenantId, revoked])
    for (const id of revoked) assert.equal((await send(api, 'DELETE', `/tenant/keys/${id}`, { key })).status, 204)
  } finally {
    await holder.query('rollback')
    holder.release()
  }
})

test('of secret keys that are all revoked at once, one stays', async () => {
  const { id: tenantId, secretKey: key } = await api.makeTenant()
  for (let n = 0; n < 7; n++) await send(api, 'POST', '/tenant/keys', { key, body: { kind: 'secret' } })
  const owner = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenantId }))
  const secretKeys = async () => {
    const { data } = (await owner.send('GET', '/tenant/keys')).body
    return data.filter(({ kind }: any) => kind === 'secret') as { id: string; revoked_at: string | null }[]
  }
  const revoke = ({ id }: { id: string }) => untilServed(() => owner.send('DELETE', `/tenant/keys/${id}`))
  const answers = await Promise.all((await secretKeys()).map(revoke))
  assert.deepEqual(answers.map(({ status, body }) => (status === 204 ? 'revoked' : body.error.code)).toSorted(), [
    'last_secret_key',
    ...Array.from({ length: 7 }, () => 'revoked'),
  ])
  assert.equal((await secretKeys()).filter(({ revoked_at }) => revoked_at === null).length, 1)
})

test('of the last two secret keys, one stays if the revocation of each has looked before the other commits', async () => {
  const { id: tenantId, secretKey: key } = await api.makeTenant()
  await send(api, 'POST', '/tenant/keys', { key, body: { kind: 'secret' } })
  const owner = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenantId }))
  const { data } = (await owner.send('GET', '/tenant/keys')).body
  const ids = data.filter(({ kind }: any) => kind === 'secret').map(({ id }: any) => id) as string[]
  const { pool } = api.ctx.db
  const holder = await pool.connect()
  try {
    // A revocation writes its event last, and waits for this.
    await holder.query('begin')
    await holder.query('lock table event_outbox in share mode')
    const answers = ids.map((id) => owner.send('DELETE', `/tenant/keys/${id}`))
    await untilBlocked(pool, 2)
    await holder.query('commit')
    assert.deepEqual((await Promise.all(answers)).map(({ status }) => status).toSorted(), [204, 409])
  } finally {
    holder.release(true)
  }
})
