import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeCredential } from '@atrium/contract/tokens'
import { readSpaceConfig } from './space-config.ts'
import { startTestSpace } from './testing/test-space.ts'

const random = (length: number) => randomBytes(length)
const publishable = makeCredential('publishableKey', random)

test('what may be given out is a publishable key and nothing else, and a wrong one is not repeated', () => {
  const read = (key: string) =>
    readSpaceConfig({ DATABASE_URL: 'postgres://db', ATRIUM_SPACE_PUBLISHABLE_KEY: key }).publishableKey
  assert.equal(read(publishable), publishable)
  assert.equal(read(''), undefined)
  const wrong = [makeCredential('secretKey', random), makeCredential('controlToken', random), publishable.slice(0, -1), 'wpk_']
  for (const key of wrong) {
    assert.throws(
      () => read(key),
      ({ message }: Error) => message.includes('ATRIUM_SPACE_PUBLISHABLE_KEY') && (key === 'wpk_' || !message.includes(key)),
    )
  }
})

test('coupons are sold at an https address that names no user, or nowhere', () => {
  const read = (address: string) => readSpaceConfig({ DATABASE_URL: 'postgres://db', ATRIUM_SPACE_COUPON_URL: address }).couponUrl
  assert.equal(read('https://shop.example/coupons?of=atrium'), 'https://shop.example/coupons?of=atrium')
  assert.equal(read(' '), undefined)
  for (const wrong of [
    'http://shop.example',
    'javascript:alert(1)',
    'https://shop@evil.example',
    'shop.example',
    '//shop.example',
  ])
    assert.throws(() => read(wrong), /ATRIUM_SPACE_COUPON_URL is not an https address/)
})

test('the origin of the keys is an address, and a wrong one is reported by its name', () => {
  const read = (text: string) =>
    readSpaceConfig({
      DATABASE_URL: 'postgres://db',
      OIDC_ISSUER: 'https://issuer.example',
      OIDC_CLIENT_ID: 'app',
      OIDC_JWKS_ORIGIN: text,
    }).oidc?.keysOrigin
  assert.equal(read('https://keys.example/jwks'), 'https://keys.example')
  assert.equal(read(' '), undefined)
  assert.throws(() => read('keys.example'), { message: 'OIDC_JWKS_ORIGIN is not an address' })
})

test('a limit of requests that is no number is refused, and off turns it off', () => {
  const read = (text: string) => readSpaceConfig({ DATABASE_URL: 'postgres://db', ATRIUM_RATE_LIMIT: text }).rateLimitFactor
  assert.deepEqual(['off', '0.5', ' 10 ', ''].map(read), [0, 0.5, 10, 1])
  for (const wrong of ['1O', '0', '-1', 'Infinity', 'NaN', 'on'])
    assert.throws(() => read(wrong), {
      message: `ATRIUM_RATE_LIMIT must be "off" or a factor above 0 such as 10, not "${wrong}"`,
    })
})

test('the root leads to the app, and nothing of an address is repeated', async () => {
  const space = await startTestSpace({ ATRIUM_SPACE_COUPON_URL: 'https://shop.example/' })
  const answer = await fetch(`${space.origin}/?to=//evil.example`, { redirect: 'manual' })
  assert.deepEqual([answer.status, answer.headers.get('location')], [302, '/space'])
  const config = (await (await fetch(`${space.origin}/space-config`)).json()) as { coupon_url: string }
  assert.equal(config.coupon_url, 'https://shop.example/')
  await space.close()
})

test('an unknown address leads a browser to the app, and answers JSON to programs', async () => {
  const space = await startTestSpace()
  const get = (path: string, accept: string) => fetch(space.origin + path, { headers: { accept }, redirect: 'manual' })
  for (const path of ['/nothing', '/space/', '/assets/nothing.js?to=//evil.example']) {
    const page = await get(path, 'text/html,application/xhtml+xml,*/*;q=0.8')
    assert.deepEqual([page.status, page.headers.get('location')], [302, '/space'], path)
    const program = await get(path, '*/*')
    assert.deepEqual([program.status, await program.json()], [404, { error: 'not_found', reason: 'path' }], path)
  }
  assert.equal((await get('/space', 'text/html')).status, 200)
  assert.equal((await get('/cert.json', 'text/html')).status, 200)
  await space.close()
})

test('the app gets the key and may connect to the API; without a key its configuration has null', async () => {
  for (const key of [publishable, undefined]) {
    const env = { ATRIUM_PUBLIC_URL: 'https://api.example', ...(key === undefined ? {} : { ATRIUM_SPACE_PUBLISHABLE_KEY: key }) }
    const space = await startTestSpace(env)
    const config = (await (await fetch(`${space.origin}/space-config`)).json()) as object
    const policy = (await fetch(`${space.origin}/space`)).headers.get('content-security-policy')
    await space.close()
    assert.deepEqual(config, {
      space_url: 'https://api.example/v1/space',
      api_url: 'https://api.example',
      publishable_key: key ?? null,
      service: 'atrium-space',
      identity: null,
    })
    assert.match(policy ?? '', /connect-src 'self' blob: https:\/\/api\.example;/)
  }
})

test('the secrets may be files, and an error names the file without quoting it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-space-secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const url = await write('url', 'postgres://db/atrium\n')
  const key = await write('key', '-----BEGIN PRIVATE KEY-----\nMIG…\n-----END PRIVATE KEY-----\n')
  const config = readSpaceConfig({ DATABASE_URL_FILE: url, ATRIUM_SPACE_SIGNING_KEY_FILE: key })
  assert.equal(config.databaseUrl, 'postgres://db/atrium')
  assert.match(config.signingKey!, /^-----BEGIN PRIVATE KEY-----\n.*-----END PRIVATE KEY-----$/s)
  assert.equal(readSpaceConfig({ DATABASE_URL: 'postgres://first', DATABASE_URL_FILE: url }).databaseUrl, 'postgres://first')
  const empty = await write('empty', '\n')
  assert.throws(() => readSpaceConfig({ DATABASE_URL_FILE: empty }), { message: `DATABASE_URL_FILE: ${empty} is empty` })
  assert.throws(() => readSpaceConfig({ DATABASE_URL_FILE: '/nonexistent' }), /^Error: DATABASE_URL_FILE: .* \(ENOENT\)$/)
})

test('browsers must refuse scripts of the page that have no hash', async (t) => {
  const space = await startTestSpace()
  t.after(() => space.close())
  const policyOf = async (path: string) => (await fetch(`${space.origin}${path}`)).headers.get('integrity-policy')
  assert.equal(await policyOf('/space'), 'blocked-destinations=(script)')
  assert.equal(await policyOf('/cert.json'), null)
})
