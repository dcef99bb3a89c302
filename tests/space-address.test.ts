import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createTestDatabase } from '../packages/server/testing/test-database.ts'
import { freePort, startAtrium } from './support/atrium-process.ts'
import { startSpaceRole } from './support/space-role.ts'

async function makeDatabase(t: TestContext): Promise<string> {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  return database.url
}

const get = async (url: string) => (await fetch(url)).json() as Promise<Record<string, string>>

async function attest(url: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const res = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ op: 'attest' }) })
  assert.equal(res.status, 200, url)
  return res.json()
}

/**
 * The API's index and the Space service name the same endpoint, which answers. The app at the service's own origin
 * may call the API.
 */
async function assertOneAddress(origin: string, spacesOrigin: string): Promise<void> {
  const index = await get(`${origin}/v1/`)
  const config = await get(`${spacesOrigin}/space-config`)
  assert.equal(index['space_url'], `${origin}/v1/space`)
  assert.equal(config['space_url'], index['space_url'])
  assert.equal(config['api_url'], origin)
  assert.equal(index['spaces_app_url'], spacesOrigin)
  assert.deepEqual(await attest(config['space_url']), await attest(`${spacesOrigin}/space`))
  const policy = (await fetch(`${spacesOrigin}/space`)).headers.get('content-security-policy') ?? ''
  assert.ok(
    policy.split(/; ?/).some((part) => part.startsWith("connect-src 'self' ") && part.split(' ').includes(origin)),
    policy,
  )
}

test('started together, the API’s index and the Space service name one endpoint', async (t) => {
  const atrium = await startAtrium({ databaseUrl: await makeDatabase(t), space: true })
  t.after(() => atrium.end('SIGKILL'))
  await assertOneAddress(atrium.origin, atrium.spacesOrigin)
})

test('so they do where the Space service runs by itself, whatever the API’s address ends with', async (t) => {
  const databaseUrl = await makeDatabase(t)
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const space = await startSpaceRole(databaseUrl, `${origin}/`)
  t.after(() => space.end())
  const options = { databaseUrl, port, env: { ATRIUM_PUBLIC_URL: `${origin}/`, ATRIUM_SPACES_URL: space.origin } }
  const together = await startAtrium(options)
  t.after(() => together.end('SIGKILL'))
  await assertOneAddress(origin, space.origin)
  await together.end('SIGKILL')
  const alone = await startAtrium({ ...options, role: 'api' })
  t.after(() => alone.end('SIGKILL'))
  await assertOneAddress(origin, space.origin)
})
