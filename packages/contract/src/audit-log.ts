import { Type } from './type.ts'
import { operation } from './operation.ts'
import { analysts } from './roles.ts'
import { closed, createdWithin, id, nullable, oneOf, pageQuery, Timestamp } from './schemas.ts'

const entryFields = {
  id: id('auditEntry'),
  created_at: Timestamp,
  actor: Type.Object({
    kind: oneOf(['operator', 'member', 'key', 'anyone', 'system']),
    id: nullable(
      Type.String({ description: 'The credential, member or key. `bootstrap`: the token that ATRIUM_ADMIN_TOKEN sets.' }),
    ),
    name: nullable(Type.String({ description: "The name of an operator's credential." })),
  }),
  operation: Type.String({ description: 'The operation, as the API names it.' }),
  targets: Type.Unsafe<Record<string, string | number>>({
    type: 'object',
    additionalProperties: { type: ['string', 'number'] },
    description: 'The ids of the resources that the call changed. Never content or a secret.',
  }),
  outcome: oneOf(['done', 'refused']),
  code: nullable(Type.String({ description: 'The error code, if the call was refused.' })),
  address: nullable(Type.String({ description: 'The IP address of the caller.' })),
  request_id: nullable(Type.String()),
}

const tenantId = 'ten_4fRzK0vXcB1mQwErTy7uPa'
const example = {
  id: 'aud_4fRzK0vXcB1mQwErTy7uPa',
  created_at: '2026-11-20T09:30:00.000Z',
  actor: { kind: 'key', id: 'key_4fRzK0vXcB1mQwErTy7uPa', name: null },
  operation: 'revokeKey',
  targets: { keyId: 'key_7uPaK0vXcB1mQwErTy4fRz' },
  outcome: 'done',
  code: null,
  address: '203.0.113.7',
  request_id: 'req_4fRzK0vXcB1mQwErTy7uPa',
}

const recorded =
  'Each entry was written in the transaction of its change, and the database refuses to change it. Entries older than ' +
  'the retention (a year, unless the installation sets another time) are removed; an entry records the removal.'

export const auditLogOperations = {
  listAuditLog: operation({
    id: 'listAuditLog',
    kind: 'read',
    method: 'GET',
    path: '/tenant/audit-log',
    status: 'live',
    tag: 'Tenants',
    summary: 'List the changes to your tenant, and who made them',
    description:
      'The changes that your secret keys and the operator made: keys, webhook, provider keys, agents, tokens of collections, ' +
      `limits and status of the tenant. Newest first. ${recorded} The name and the address of an operator are not shown.`,
    caller: 'secret',
    roles: analysts,
    query: closed({ ...createdWithin, ...pageQuery }),
    answers: { 200: { description: 'A page of entries.', data: Type.Array(Type.Object(entryFields)), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [example] },
  }),
  listOperatorAuditLog: operation({
    id: 'listOperatorAuditLog',
    kind: 'read',
    method: 'GET',
    path: '/operator/audit-log',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'List the changes of operators and tenants',
    description: `Operator only. The entries of all tenants and of the installation, newest first. ${recorded}`,
    caller: 'operator',
    query: closed({ tenant_id: Type.Optional(id('tenant')), ...createdWithin, ...pageQuery }),
    answers: {
      200: {
        description: 'A page of entries.',
        data: Type.Array(Type.Object({ ...entryFields, tenant_id: nullable(id('tenant')) })),
        paged: true,
      },
    },
    errors: ['invalid_cursor'],
    example: { data: [{ ...example, tenant_id: tenantId }] },
  }),
}
