import assert from 'node:assert/strict'
import { test } from 'node:test'
import { declaredPath } from './declared-path.ts'

test('the path that a caller used becomes the path of the contract', () => {
  for (const [typed, path] of [
    ['/v1/collections/col_4fRzQ0Ck2mXyT7bNdW5sPa/items', '/collections/{id}/items'],
    ['/collections/col_4fRzQ0Ck2mXyT7bNdW5sPa/items', '/collections/{id}/items'],
    ['https://atrium.example/v1/collections/col_1/items?limit=5#top', '/collections/{id}/items'],
    ['/collections/{id}/items', '/collections/{id}/items'],
    ['/v1/collections/{id}/items/', '/collections/{id}/items'],
    ['/v1/tenant/keys/leaks', '/tenant/keys/leaks'],
    ['/v1/tenant/webhooks', '/tenant/webhooks'],
    ['/v1/collections//items', '/v1/collections//items'],
    ['/nowhere', '/nowhere'],
    ['items', 'items'],
    ['', ''],
  ] as const)
    assert.equal(declaredPath(typed), path, typed)
})
