import { Type } from './type.ts'
import { operation } from './operation.ts'
import { everyMember } from './roles.ts'
import { closed, EmailAddress, id, noNul, nullable, oneOf, pageQuery, Timestamp } from './schemas.ts'

export const Role = oneOf(['app', 'issuer'])

export const Tenant = Type.Object({
  id: id('tenant'),
  name: Type.String(),
  roles: Type.Array(Role, { minItems: 1, description: 'Never empty: a tenant that was made without roles holds both.' }),
  status: oneOf(['active', 'suspended']),
  created_at: Timestamp,
})

/** A tenant as an operator sees it in the list. */
export const ListedTenant = Type.Object({
  ...Tenant.properties,
  deletion: nullable(
    Type.Object(
      { state: oneOf(['scheduled', 'running', 'done']), due_at: Timestamp },
      { description: 'The deletion of the tenant and when it begins. Only a scheduled one can be cancelled.' },
    ),
  ),
})

const TenantCreated = Type.Object({
  tenant: Tenant,
  secret_key: Type.String({ description: 'Full scope, for servers only. Returned once.' }),
  publishable_key: Type.String({ description: 'Safe in a browser. Returned once.' }),
})

export const TenantName = Type.String({ minLength: 1, maxLength: 120 })

export const tenantExample = {
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
      'up, has expired or never existed is 403 `invite_invalid` in all three cases. The new tenant holds ' +
      'both roles.',
    caller: 'anyone',
    audited: true,
    credentialField: 'invite_code',
    idempotency: 'accepted',
    body: closed({ invite_code: Type.String({ minLength: 1, maxLength: 100 }), name: TenantName, email: EmailAddress }),
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
      name: TenantName,
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
    description:
      'Operator only. All tenants, oldest first unless `order` says otherwise, with a deletion that is scheduled, running ' +
      'or done. Keys are never shown.',
    caller: 'operator',
    query: closed({
      q: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 120,
          pattern: noNul,
          description: 'In the name or the e-mail address, in any case of letters, or the beginning of the id.',
        }),
      ),
      status: Type.Optional(oneOf(['active', 'suspended'])),
      order: Type.Optional(oneOf(['oldest', 'newest'], { default: 'oldest' })),
      ...pageQuery,
    }),
    answers: { 200: { description: 'A page of tenants.', data: Type.Array(ListedTenant), paged: true } },
    errors: ['invalid_cursor'],
    example: {
      data: [{ ...tenantExample, status: 'suspended', deletion: { state: 'scheduled', due_at: '2026-11-27T09:30:00.000Z' } }],
    },
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
      'never later than 15 seconds. Sessions that the tenant launched, and those of its agents, are stopped within ' +
      'seconds and charged as usual; its pending launches wait until it is active again. A tenant that is deleted, or ' +
      'about to be, keeps its status: 409 `state_conflict`.',
    caller: 'operator',
    params: Type.Object({ tenant_id: id('tenant') }),
    body: closed({ status: oneOf(['active', 'suspended']) }),
    answers: { 200: { description: 'The tenant.', data: Tenant } },
    errors: ['not_found', 'state_conflict'],
    example: { body: { status: 'suspended' }, data: { ...tenantExample, status: 'suspended' } },
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
    roles: everyMember,
    answers: { 200: { description: 'The tenant.', data: Tenant } },
    example: { data: tenantExample },
  }),
}
