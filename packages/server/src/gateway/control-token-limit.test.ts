import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ratePolicies } from '@atrium/contract/limits'
import { newCredential } from '#crypto/random.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ rateLimit: '1' })
})
after(() => api.close())

test('guesses of control tokens beyond the rate limit of their address are refused without a look into the database', async (t) => {
  const { mock } = t.mock.method(api.ctx.db, 'query')
  const guess = () => {
    const headers = { authorization: `Bearer ${newCredential('controlToken')}` }
    return send({ baseUrl: api.origin }, 'GET', '/sessions/ses_0123456789abcdefghijAB', { headers })
  }
  const answers = await Promise.all(Array.from({ length: 3 * ratePolicies.address.burst }, guess))
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(refused.length > 0)
  assert.ok(answers.every(({ status }) => status === 401 || status === 429))
  assert.equal(mock.callCount(), answers.length - refused.length)
})
