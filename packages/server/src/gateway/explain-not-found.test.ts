import assert from 'node:assert/strict'
import { test } from 'node:test'
import { servedOperations } from '@atrium/contract/table'
import { explainNotFound } from './explain-not-found.ts'

const rooms = 'https://rooms.example'
const explain = (route: string) => {
  const [method, url] = route.split(' ') as [string, string]
  return explainNotFound(method, url, rooms)
}

test('the error for an address that is nearly right names the right one', () => {
  const meant: [string, string][] = [
    ['GET /v1/catalog/', '/v1/catalog'],
    ['GET //v1/catalog', '/v1/catalog'],
    ['GET /v1//catalog?x=1', '/v1/catalog'],
    ['GET /catalog', '/v1/catalog'],
    ['GET /V1/catalog', '/v1/catalog'],
    ['GET /v1/Catalog', '/v1/catalog'],
    ['GET /v1/agents', '/agents'],
    ['GET /v1/sessions/ses_x', '/sessions/ses_x'],
    ['POST /v1/mcp', '/mcp'],
    ['GET /mcp/', '/mcp'],
    ['POST /collections/col_x/items/', '/v1/collections/col_x/items'],
  ]
  for (const [route, right] of meant) assert.ok(explain(route)?.endsWith(`Did you mean ${right}?`), `${route}: ${explain(route)}`)
})

test('the error for a wrong method names the right ones', () => {
  assert.equal(explain('PUT /v1/collections/col_x'), 'PUT is not a method of this path: use GET or PATCH or DELETE.')
  assert.equal(explain('GET /v1/wallets/lookup'), 'GET is not a method of this path: use POST.')
  assert.equal(explain('PUT /v1/tenants/invites'), 'PUT is not a method of this path: use POST or GET or PATCH.')
})

test('a room is opened elsewhere', () => {
  for (const path of ['/space', '/v1/space', '/space?x'])
    assert.match(explain(`GET ${path}`) ?? '', /https:\/\/rooms\.example\/space\./)
})

test('what resembles nothing, and what is right, is not explained; what is quoted is printable and short', () => {
  for (const route of ['GET /', 'GET /v1/', 'GET /v1/nothing', 'GET /elsewhere', 'GET *', 'GET ///'])
    assert.equal(explain(route), undefined)
  for (const { method, path, status } of servedOperations) {
    const right = (status === 'live' ? '/v1' : '') + path.replaceAll(/\{\w+\}/g, 'x')
    if (right !== '/v1/space') assert.equal(explain(`${method} ${right}`), undefined, right)
  }
  const long = explain(`GET /v1/media/${'é'.repeat(5_000)}/`)!
  assert.ok(long.length < 400 && /^[ -~…]+$/.test(long), long)
})
