import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issuerAccount, platformAccount, transactionId } from '#features/credits/ledger/movement.ts'
import { send } from '#testing/http.ts'
import { startTestApi } from '#testing/test-api.ts'

test('where something else locks the table, no other request is said to hold the key', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const tenant = await api.makeTenant()
  const key = tenant.secretKey
  await api.ctx.ledger.add({
    type: 'transfer',
    id: transactionId('test', 'funds'),
    kind: 'prefund',
    from: platformAccount,
    to: issuerAccount(tenant.id),
    amountCredits: 5,
    actor: tenant.id,
  })
  const { id } = (await send(api, 'POST', '/collections', { key, body: {} })).body.data
  const requests: [path: string, body: object][] = [
    ['/collections', {}],
    [`/collections/${id}/items`, { type: 'm', content: 1 }],
    ['/wallets/grant', { amount: 3 }],
  ]
  const ask = () => Promise.all(requests.map(([path, body]) => send(api, 'POST', path, { key, idempotencyKey: 'one', body })))
  const connection = await api.ctx.db.pool.acquire('transaction')
  try {
    // As an index that is built without "concurrently", or VACUUM FULL of one partition.
    await connection.query('begin; lock table idempotency_keys in share mode')
    for (const { status, body, headers } of await ask())
      assert.deepEqual([status, body.error?.code, headers.get('retry-after')], [503, 'unavailable', '1'])
  } finally {
    await connection.query('rollback')
    api.ctx.db.pool.release(connection)
  }
  for (const { status, headers } of await ask()) assert.deepEqual([status, headers.get('idempotency-status')], [201, 'stored'])
})
