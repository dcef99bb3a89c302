import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertIssuer, fetchJwkSet } from './discovery.ts'

const jwkSet = { keys: [] }

/** A web that answers discovery with `document` and everything else with a key set; `asked` is what was fetched. */
function web(document: unknown) {
  const asked: string[] = []
  const fetchJson = async (url: string): Promise<unknown> => {
    asked.push(url)
    return url.endsWith('/.well-known/openid-configuration') ? document : jwkSet
  }
  return { asked, fetchJson }
}

test('a key set may lie on another host, and an issuer may end in a slash or have a path', async () => {
  for (const issuer of ['https://id.example', 'https://id.example/', 'https://id.example/tenant/1']) {
    const { asked, fetchJson } = web({ issuer, jwks_uri: 'https://keys.example/jwks' })
    assert.equal(await fetchJwkSet(issuer, fetchJson), jwkSet)
    const document = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    assert.deepEqual(asked, [document, 'https://keys.example/jwks'])
  }
})

const jwks_uri = 'https://id.example/jwks'
const issuer = 'https://id.example'
const refused: readonly [string, unknown][] = [
  ['another issuer', { issuer: 'https://evil.example', jwks_uri }],
  ['an issuer with a slash more', { issuer: `${issuer}/`, jwks_uri }],
  ['no issuer', { jwks_uri }],
  ['no key set', { issuer }],
  ['a key set over http', { issuer, jwks_uri: 'http://id.example/jwks' }],
  ['a key set on our own loopback', { issuer, jwks_uri: 'http://127.0.0.1/jwks' }],
  ['a key set in a file', { issuer, jwks_uri: 'file:///etc/passwd' }],
  ['a key set in the document', { issuer, jwks_uri: 'data:application/json,{}' }],
  ['a relative key set', { issuer, jwks_uri: '/jwks' }],
  ['a list', [{ issuer, jwks_uri }]],
  ['nothing', undefined],
]

for (const [name, document] of refused) {
  test(`discovery that gives ${name} is not followed`, async () => {
    const { asked, fetchJson } = web(document)
    await assert.rejects(fetchJwkSet(issuer, fetchJson))
    assert.equal(asked.length, 1)
  })
}

test('an issuer is https, or http on loopback', () => {
  for (const good of [issuer, 'http://localhost:9000', 'http://127.0.0.1:9000', 'http://[::1]:9000/x']) assertIssuer(good)
  const bad = ['', 'id.example', 'http://id.example', 'http://localhost.evil.example', 'http://127.0.0.1.evil.example']
  const worse = ['http://10.0.0.1', 'ftp://id.example', 'https://a:b@id.example', `${issuer}?x=1`, `${issuer}#x`]
  for (const text of [...bad, ...worse]) assert.throws(() => assertIssuer(text), /Not an OpenID issuer/, text)
})
