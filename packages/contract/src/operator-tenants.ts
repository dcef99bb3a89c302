import { Type } from './type.ts'
import { operation } from './operation.ts'
import { closed, EmailAddress, id, nullable, Timestamp } from './schemas.ts'
import { ListedTenant, Role, tenantExample, TenantName } from './tenants.ts'
import { usageQuery, UsageRow } from './usage.ts'

const params = Type.Object({ tenant_id: id('tenant') })

const TenantDetails = Type.Object({
  ...ListedTenant.properties,
  email: nullable(Type.String()),
  active_keys: Type.Integer({ minimum: 0, description: 'Keys that are neither revoked nor expired.' }),
  last_used_at: nullable(Timestamp),
})

const example = {
  ...tenantExample,
  deletion: null,
  email: 'ada@harbour.example',
  active_keys: 2,
  last_used_at: '2026-11-22T18:04:12.000Z',
}

export const operatorTenantOperations = {
  readTenant: operation({
    id: 'readTenant',
    kind: 'read',
    method: 'GET',
    path: '/tenants/{tenant_id}',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Read a tenant',
    description:
      'Operator only. The tenant with its e-mail address and the number of its keys. `last_used_at` is the last use of any ' +
      'of its keys, accurate to ten seconds; null: none was ever used.',
    caller: 'operator',
    params,
    answers: { 200: { description: 'The tenant.', data: TenantDetails } },
    errors: ['not_found'],
    example: { data: example },
  }),
  updateTenant: operation({
    id: 'updateTenant',
    kind: 'write',
    method: 'PATCH',
    path: '/tenants/{tenant_id}',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Change name, e-mail address or roles of a tenant',
    description:
      'Operator only. Fields that are absent stay. Roles take effect in every process normally within a second and never ' +
      'later than 15 seconds; an empty list means both. A tenant that is deleted, or about to be: 409 `state_conflict`.',
    caller: 'operator',
    params,
    body: closed(
      {
        name: Type.Optional(TenantName),
        email: Type.Optional(nullable(EmailAddress)),
        roles: Type.Optional(Type.Array(Role, { maxItems: 2, uniqueItems: true })),
      },
      { minProperties: 1 },
    ),
    answers: { 200: { description: 'The tenant.', data: TenantDetails } },
    errors: ['not_found', 'state_conflict'],
    example: { body: { roles: ['app'] }, data: { ...example, roles: ['app'] } },
  }),
  readTenantUsage: operation({
    id: 'readTenantUsage',
    kind: 'read',
    method: 'GET',
    path: '/tenants/{tenant_id}/usage',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Read the usage of a tenant',
    description: 'Operator only. The rows of `GET /usage` for any tenant.',
    caller: 'operator',
    params,
    query: usageQuery,
    answers: { 200: { description: 'The rows.', data: Type.Array(UsageRow) } },
    errors: ['not_found'],
    example: { data: [{ period: '2026-11-20', meter: 'items', quantity: 12 }] },
  }),
}
