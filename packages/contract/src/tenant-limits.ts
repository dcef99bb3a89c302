import Type from 'typebox'
import { operation } from './operation.ts'
import { closed, id } from './schemas.ts'

const amount = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

const limitFields = {
  paints_per_address: amount('Paintings through publishable keys, per IP address and day.'),
  paints_per_collection: amount('Paintings through publishable keys, per collection and day.'),
  paints_per_day: amount('Paintings from the monthly allowance, through all publishable keys together, per day.'),
  upload_bytes_per_address: amount('Bytes of uploads announced through publishable keys, per IP address and day.'),
  stored_bytes: amount('Bytes of stored artifacts, from any source.'),
  open_streams: amount('Event streams that are open at the same time in each API process.'),
}

export const limitNames = Object.keys(limitFields) as (keyof typeof limitFields)[]

const overrides = {
  paints_per_address: Type.Optional(limitFields.paints_per_address),
  paints_per_collection: Type.Optional(limitFields.paints_per_collection),
  paints_per_day: Type.Optional(limitFields.paints_per_day),
  upload_bytes_per_address: Type.Optional(limitFields.upload_bytes_per_address),
  stored_bytes: Type.Optional(limitFields.stored_bytes),
  open_streams: Type.Optional(limitFields.open_streams),
}

const TenantLimits = Type.Object({
  limits: Type.Object(limitFields, { description: 'The limits in force for the tenant.' }),
  overrides: Type.Object(overrides, { description: "The limits that differ from the installation's defaults." }),
  stored_bytes_used: Type.Integer({ minimum: 0, description: 'Bytes of artifacts that are stored now.' }),
})

const params = Type.Object({ tenant_id: id('tenant') })

const example = {
  limits: {
    paints_per_address: 200,
    paints_per_collection: 200,
    paints_per_day: 500,
    upload_bytes_per_address: 1_073_741_824,
    stored_bytes: 107_374_182_400,
    open_streams: 2_000,
  },
  overrides: { paints_per_day: 500, stored_bytes: 107_374_182_400 },
  stored_bytes_used: 48_213,
}

export const tenantLimitOperations = {
  getTenantLimits: operation({
    id: 'getTenantLimits',
    kind: 'read',
    method: 'GET',
    path: '/tenants/{tenant_id}/limits',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Read the limits of a tenant',
    description: 'Operator only. The limits of its publishable keys, its quota of stored bytes, and how much of that is used.',
    caller: 'operator',
    params,
    answers: { 200: { description: 'The limits.', data: TenantLimits } },
    example: { data: example },
  }),
  setTenantLimits: operation({
    id: 'setTenantLimits',
    kind: 'write',
    method: 'PUT',
    path: '/tenants/{tenant_id}/limits',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Set the limits of a tenant',
    description:
      "Operator only. Replaces the tenant's overrides; a limit that is not sent returns to the installation's " +
      'default. Takes effect with the next request. A quota below the stored amount deletes nothing; it only ' +
      'rejects new uploads.',
    caller: 'operator',
    params,
    body: closed(overrides),
    answers: { 200: { description: 'The limits.', data: TenantLimits } },
    example: { body: example.overrides, data: example },
  }),
}
