import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseOidc, usesDevelopmentIdentity } from './development-issuer.ts'

const bare = { production: false, publicUrl: 'http://localhost:8787', databaseUrl: undefined, oidc: undefined }

test('with nothing configured the development sign-in is the provider', () => {
  const oidc = chooseOidc(bare, 1)
  assert.deepEqual(oidc, { issuer: 'http://localhost:8787/dev-identity', clientId: 'atrium-dev' })
  assert.equal(usesDevelopmentIdentity({ ...bare, oidc }), true)
})

test('a provider that is configured is the one', () => {
  const oidc = { issuer: 'https://id.example', clientId: 'x' }
  assert.equal(chooseOidc({ ...bare, oidc }, 1), oidc)
  assert.equal(usesDevelopmentIdentity({ ...bare, oidc }), false)
})

test('there is none in production, over a database of the operator’s, with several processes, or where others reach it', () => {
  const cases = [
    [{ ...bare, production: true }, 1],
    [{ ...bare, databaseUrl: 'postgresql://localhost/atrium' }, 1],
    [bare, 2],
    [{ ...bare, publicUrl: 'https://atrium.example' }, 1],
    [{ ...bare, publicUrl: 'http://atrium.example' }, 1],
    [{ ...bare, publicUrl: 'http://localhost:8787/atrium' }, 1],
  ] as const
  for (const [situation, workers] of cases) assert.equal(chooseOidc(situation, workers), undefined, JSON.stringify(situation))
  assert.equal(usesDevelopmentIdentity(bare), false)
})
