import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseConsoleOidc, chooseOidc, developmentClients, isDevelopmentIssuer } from './development-issuer.ts'

const local = 'http://localhost:8787'
const bare = {
  production: false,
  publicUrl: local,
  consoleUrl: local,
  databaseUrl: undefined,
  oidc: undefined,
  consoleOidc: undefined,
}
const spacesUrl = 'http://localhost:8788'
const development = { issuer: `${local}/dev-identity`, clientId: 'atrium-dev' }
const consoleDevelopment = { issuer: development.issuer, clientId: 'atrium-dev-console', clientSecret: undefined }

test('with nothing configured the development sign-in is the provider, with a client each for rooms and console', () => {
  const [oidc, consoleOidc] = [chooseOidc(bare, 1), chooseConsoleOidc(bare, 1)]
  assert.deepEqual([oidc, consoleOidc], [development, consoleDevelopment])
  assert.deepEqual(developmentClients({ ...bare, spacesUrl, oidc, consoleOidc }), [
    { clientId: 'atrium-dev', redirectUris: [`${spacesUrl}/space`, `${local}/space`] },
    { clientId: 'atrium-dev-console', redirectUris: [`${local}/console/oidc/callback`] },
  ])
})

test('a provider that is configured is the one', () => {
  const oidc = { issuer: 'https://id.example', clientId: 'x' }
  const consoleOidc = { ...oidc, clientId: 'y', clientSecret: undefined }
  const chosen = { ...bare, spacesUrl, oidc, consoleOidc }
  assert.equal(chooseOidc(chosen, 1), oidc)
  assert.equal(chooseConsoleOidc(chosen, 1), consoleOidc)
  assert.deepEqual([isDevelopmentIssuer(bare, oidc), isDevelopmentIssuer(bare, undefined)], [false, false])
  assert.deepEqual(developmentClients(chosen), [])
  assert.equal(developmentClients({ ...chosen, oidc: chooseOidc(bare, 1) }).length, 1)
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
  for (const [situation, workers] of cases) {
    assert.equal(chooseOidc(situation, workers), undefined, JSON.stringify(situation))
    assert.equal(chooseConsoleOidc(situation, workers), undefined, JSON.stringify(situation))
  }
  const elsewhere = { ...bare, consoleUrl: 'https://console.example' }
  assert.equal(chooseConsoleOidc(elsewhere, 1), undefined, 'a console that others reach')
  assert.deepEqual(chooseOidc(elsewhere, 1), development)
})
