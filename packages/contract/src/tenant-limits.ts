import Type from 'typebox'
import { operation } from './operation.ts'
import { closed, id } from './schemas.ts'

const amount = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

const limitFields = {
  paints_per_address: amount('Paints through publishable keys, per address and day.'),
  paints_per_collection: amount('Paints through publishable keys, per collection and day.'),
  paints_per_day: amount("Paints from the month's allowance, through all publishable keys together, per day."),
  upload_bytes_per_address: amount('Bytes of uploads announced through publishable keys, per address and day.'),
  stored_bytes: amount('Bytes of artifacts that are stored, whoever made them.'),
}

export const limitNames = Object.keys(limitFields) as (keyof typeof limitFields)[]

const overrides = {
  paints_per_address: Type.Optional(limitFields.paints_per_address),
  paints_per_collection: Type.Optional(limitFields.paints_per_collection),
  paints_per_day: Type.Optional(limitFields.paints_per_day),
  upload_bytes_per_address: Type.Optional(limitFields.upload_bytes_per_address),
  stored_bytes: Type.Optional(limitFields.stored_bytes),
}

const TenantLimits = Type.Object({
  limits: Type.Object(limitFields, { description: 'What holds for the tenant.' }),
  overrides: Type.Object(overrides, { description: "Those that are not the installation's." }),
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
      "Operator only. Replaces the tenant's overrides: a limit that is not sent is the installation's again. Takes effect with the next request. " +
      'A quota below what is stored already deletes nothing; it only lets nothing more in.',
    caller: 'operator',
    params,
    body: closed(overrides),
    answers: { 200: { description: 'The limits.', data: TenantLimits } },
    example: { body: example.overrides, data: example },
  }),
}
