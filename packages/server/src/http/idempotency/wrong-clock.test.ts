import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { issuerAccount, platformAccount, transactionId } from '#features/credits/ledger/movement.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})
after(() => api.close())

for (const aheadHours of [-48, 48])
  test(`a repeat is replayed where the clock of the process is wrong by ${aheadHours} hours`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + aheadHours * 3_600_000 })
    const key = tenant.secretKey
    const twice = async (path: string, body: object) => {
      const ask = () => send(api, 'POST', path, { key, idempotencyKey: `twice ${aheadHours}`, body })
      const [first, second] = [await ask(), await ask()]
      assert.deepEqual([first.status, second.headers.get('idempotency-status')], [201, 'replayed'], `${path}: ${second.text}`)
      assert.equal(second.text, first.text)
      return first.body.data
    }
    const { id } = await twice('/collections', {})
    await twice(`/collections/${id}/items`, { type: 'm', content: 1 })
    // Claims of the ledger are written by a statement of their own.
    await api.ctx.ledger.add({
      type: 'transfer',
      id: transactionId('test', String(aheadHours)),
      kind: 'prefund',
      from: platformAccount,
      to: issuerAccount(tenant.id),
      amountCredits: 5,
      actor: tenant.id,
    })
    await twice('/wallets/grant', { amount: 3 })
  })
