import { Type } from './type.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { analysts, developers } from './roles.ts'
import { closed, id, nullable, oneOf, pageQuery, Timestamp } from './schemas.ts'

const kind = oneOf(['secret', 'publishable'])

const keyFields = {
  id: id('key'),
  kind,
  name: nullable(Type.String()),
  hint: Type.String({ description: 'The prefix and the last four characters, to distinguish keys.' }),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
  expires_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
  replaced_by: nullable(
    id(
      'key',
      'The id of the key that replaced this one, created with `rotates` set to the id of this key. If this key was rotated ' +
        'several times, it is the first replacement, as long as that key or one of its own replacements is valid.',
    ),
  ),
}

const keyExample = {
  id: 'key_4fRzK0vXcB1mQwErTy7uPa',
  kind: 'secret',
  name: 'ci',
  hint: 'wsk_…9xQ2',
  created_at: '2026-11-20T09:30:00.000Z',
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
  replaced_by: null,
}

export const keyOperations = {
  listKeys: operation({
    id: 'listKeys',
    kind: 'read',
    method: 'GET',
    path: '/tenant/keys',
    status: 'live',
    tag: 'Keys',
    summary: 'List keys',
    description:
      'All keys of the tenant, oldest first, including revoked and expired ones. If they do not fit on a page, the first page ' +
      'has the keys that end last: first those that are valid, then those that ended recently. Each page is oldest first. ' +
      '`last_used_at` is accurate to about ten seconds.',
    caller: 'secret',
    roles: analysts,
    query: closed({
      limit: Type.Optional(
        Type.Integer({
          'x-status': 'live',
          minimum: 1,
          maximum: limits.pageMax,
          description: `The largest number of keys. Without it, a page has up to ${limits.keysPageDefault} keys.`,
        }),
      ),
      cursor: Type.Optional(Type.String({ ...pageQuery.cursor, 'x-status': 'live' })),
      expiring_before: Type.Optional(
        Type.String({
          'x-status': 'live',
          format: 'date-time',
          description:
            'Only keys that are valid now, expire before this time, and have no valid replacement. The first page has those ' +
            'that end first.',
        }),
      ),
    }),
    answers: { 200: { description: 'A page of the keys.', data: Type.Array(Type.Object(keyFields)), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [keyExample] },
  }),
  createKey: operation({
    id: 'createKey',
    kind: 'write',
    method: 'POST',
    path: '/tenant/keys',
    status: 'live',
    tag: 'Keys',
    summary: 'Create or rotate a key',
    description:
      'The key is returned only in this answer.\n\n' +
      'With `rotates`, the named key of the same kind stays valid for ' +
      '`overlap_seconds` (default 0: it expires at once), so that a new key can be rolled out without a gap. ' +
      'Rotation never extends the life of the old key.\n\n' +
      'A key may rotate itself: then send an Idempotency-Key of at ' +
      'least 20 random characters. If no response arrives, the same request with the expired key returns the ' +
      'stored answer for 10 minutes.',
    caller: 'secret',
    roles: developers,
    audited: true,
    idempotency: 'accepted',
    endsCaller: true,
    body: closed({
      kind,
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 120 })),
      expires_at: Type.Optional(Timestamp),
      rotates: Type.Optional(id('key')),
      overlap_seconds: Type.Optional(
        Type.Integer({ minimum: 0, maximum: limits.keyOverlapSeconds, description: 'Only together with rotates. Seconds.' }),
      ),
    }),
    answers: {
      201: { description: 'The key.', data: Type.Object({ ...keyFields, key: Type.String() }), oneTimeSecret: true },
    },
    errors: ['not_found'],
    example: { body: { kind: 'secret', name: 'ci' }, data: { ...keyExample, key: 'wsk_…' } },
  }),
  revokeKey: operation({
    id: 'revokeKey',
    kind: 'write',
    method: 'DELETE',
    path: '/tenant/keys/{keyId}',
    status: 'live',
    tag: 'Keys',
    summary: 'Revoke a key',
    description:
      'Takes effect in every process normally within a second, and never later than 15 seconds. Revoking a revoked ' +
      'key is a no-op. The last active secret key cannot be revoked: 409 `last_secret_key`.',
    caller: 'secret',
    roles: developers,
    audited: true,
    params: Type.Object({ keyId: id('key') }),
    answers: { 204: { description: 'Revoked.' } },
    errors: ['not_found', 'last_secret_key'],
  }),
}
