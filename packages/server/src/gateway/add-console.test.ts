import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { ensureConsole } from '@atrium/web/build/ensure-console'
import Fastify from 'fastify'
import { addConsole } from './add-console.ts'

const firstViewMaxBytes = 120_000

await ensureConsole()
const app = Fastify()
addConsole(app)
const get = (url: string, headers = {}) => app.inject({ url, headers })

test('every path below /console is the same page, under a policy of its own files alone', async () => {
  const [page, below] = await Promise.all([get('/console'), get('/console/collections/col_1')])
  assert.equal(page.statusCode, 200)
  assert.equal(page.body, below.body)
  const policy = String(page.headers['content-security-policy'])
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'sha256-[^' ]+'; img-src/)
  assert.match(policy, /frame-ancestors 'none'; require-trusted-types-for 'script'/)
  assert.doesNotMatch(policy, /unsafe-|https?:|\*/)
})

test('the first view is small, and its files may be kept for a year', async () => {
  const { body } = await get('/console')
  const names = [...body.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path!)
  assert.ok(names.length >= 2)
  let bytes = (await get('/console', { 'accept-encoding': 'gzip' })).rawPayload.length
  for (const name of names) {
    const file = await get(name, { 'accept-encoding': 'gzip' })
    assert.equal(file.headers['cache-control'], 'public, max-age=31536000, immutable')
    bytes += file.rawPayload.length
    if (file.headers['content-encoding'] === 'gzip') gunzipSync(file.rawPayload)
  }
  assert.ok(bytes < firstViewMaxBytes, `${bytes} bytes`)
})

test('a file that is not part of the console is not found', async () => {
  for (const path of ['nothing.js', '../index.html', '..%2findex.html', '%2e%2e/console.sha256'])
    assert.notEqual((await get(`/console/assets/${path}`)).headers['content-type'], 'text/javascript; charset=utf-8')
  assert.equal((await get('/console/assets/nothing.js')).statusCode, 404)
})
