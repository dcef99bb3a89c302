import Type from 'typebox'
import { operation } from './operation.ts'
import { closed, EmailAddress, id, nullable, oneOf, PageQuery, Timestamp } from './schemas.ts'

const Role = oneOf(['app', 'issuer'])

export const Tenant = Type.Object({
  id: id('tenant'),
  name: Type.String(),
  roles: Type.Array(Role, { description: 'An empty list means both.' }),
  status: oneOf(['active', 'suspended']),
  created_at: Timestamp,
})

const TenantCreated = Type.Object({
  tenant: Tenant,
  secret_key: Type.String({ description: 'Full scope, for servers only. Returned once.' }),
  publishable_key: Type.String({ description: 'Safe in a browser. Returned once.' }),
})

const Name = Type.String({ minLength: 1, maxLength: 120 })

const tenantExample = {
  id: 'ten_4fRzK0vXcB1mQwErTy7uPa',
  name: 'Harbour Wall',
  roles: ['app', 'issuer'],
  status: 'active',
  created_at: '2026-11-20T09:30:00.000Z',
}
const createdExample = {
  tenant: tenantExample,
  secret_key: 'wsk_…',
  publishable_key: 'wpk_…',
}

export const tenantOperations = {
  signUpTenant: operation({
    id: 'signUpTenant',
    kind: 'write',
    method: 'POST',
    path: '/tenants/signup',
    status: 'live',
    tag: 'Tenants',
    summary: 'Sign up with an invite',
    description:
      'Creates a tenant and its first two keys, which are returned only in this answer. An invite that was used ' +
      'up, has expired or never existed is 403 `invite_invalid` in all three cases. The new tenant has an empty ' +
      'list of roles, which means both.',
    caller: 'anyone',
    credentialField: 'invite_code',
    idempotency: 'accepted',
    body: closed({ invite_code: Type.String({ minLength: 1, maxLength: 100 }), name: Name, email: EmailAddress }),
    answers: { 201: { description: 'The tenant and its keys.', data: TenantCreated, oneTimeSecret: true } },
    errors: ['invite_invalid'],
    example: { body: { invite_code: 'inv_…', name: 'Harbour Wall', email: 'ada@harbour.example' }, data: createdExample },
  }),
  createTenant: operation({
    id: 'createTenant',
    kind: 'write',
    method: 'POST',
    path: '/tenants',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Create a tenant',
    description: 'Operator only. Creates a tenant and its first two keys, which are returned once.',
    caller: 'operator',
    idempotency: 'accepted',
    body: closed({
      name: Name,
      email: Type.Optional(EmailAddress),
      roles: Type.Optional(Type.Array(Role, { maxItems: 2, uniqueItems: true, description: 'Absent or empty: both.' })),
    }),
    answers: { 201: { description: 'The tenant and its keys.', data: TenantCreated, oneTimeSecret: true } },
    example: { body: { name: 'Harbour Wall', roles: ['app'] }, data: createdExample },
  }),
  listTenants: operation({
    id: 'listTenants',
    kind: 'read',
    method: 'GET',
    path: '/tenants',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'List the tenants',
    description: 'Operator only. All tenants, oldest first. Keys are never shown.',
    caller: 'operator',
    query: PageQuery,
    answers: { 200: { description: 'A page of tenants.', data: Type.Array(Tenant), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [tenantExample] },
  }),
  setTenantStatus: operation({
    id: 'setTenantStatus',
    kind: 'write',
    method: 'POST',
    path: '/tenants/{tenant_id}/status',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Suspend or reactivate a tenant',
    description:
      'Operator only. Suspension disables every key of the tenant, in every process normally within a second and ' +
      'never later than 15 seconds.',
    caller: 'operator',
    params: Type.Object({ tenant_id: id('tenant') }),
    body: closed({ status: oneOf(['active', 'suspended']) }),
    answers: { 200: { description: 'The tenant.', data: Tenant } },
    errors: ['not_found'],
    example: { body: { status: 'suspended' }, data: { ...tenantExample, status: 'suspended' } },
  }),
  createInvite: operation({
    id: 'createInvite',
    kind: 'write',
    method: 'POST',
    path: '/tenants/invites',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Create an invite',
    description:
      'Operator only. The invite code is returned once. It signs up `uses` tenants (default 1) until it expires ' +
      '(default: never).',
    caller: 'operator',
    idempotency: 'accepted',
    body: closed({
      uses: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1 })),
      expires_at: Type.Optional(Timestamp),
    }),
    answers: {
      201: {
        description: 'The invite.',
        data: Type.Object({ invite_code: Type.String(), uses: Type.Integer(), expires_at: nullable(Timestamp) }),
        oneTimeSecret: true,
      },
    },
    example: { body: { uses: 1 }, data: { invite_code: 'inv_…', uses: 1, expires_at: null } },
  }),
  getTenant: operation({
    id: 'getTenant',
    kind: 'read',
    method: 'GET',
    path: '/tenant',
    status: 'live',
    tag: 'Tenants',
    summary: 'Read your tenant',
    description: 'The tenant that the secret key belongs to.',
    caller: 'secret',
    answers: { 200: { description: 'The tenant.', data: Tenant } },
    example: { data: tenantExample },
  }),
}
