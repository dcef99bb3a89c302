import type { TInteger } from 'typebox'
import { Type } from './type.ts'
import type { LimitName } from './limit-names.ts'
import { operation } from './operation.ts'
import { closed, id } from './schemas.ts'

const amount = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

/** At least 1 %: to reject all requests of a tenant, the operator suspends it. */
const percent = Type.Integer({
  minimum: 1,
  maximum: 100_000,
  description: "The rate limits of the tenant and of its keys, in percent of the installation's.",
})

const limitFields = {
  paints_per_address: amount('Paintings through publishable keys, per IP address and day.'),
  paints_per_collection: amount('Paintings through publishable keys, per collection and day.'),
  paints_per_day: amount('Paintings from the monthly allowance, through all publishable keys together, per day.'),
  upload_bytes_per_address: amount('Bytes of uploads announced through publishable keys, per IP address and day.'),
  stored_bytes: amount('Bytes of stored artifacts, from any source.'),
  open_streams: amount('Event streams that are open at the same time in each API process.'),
  paints_per_month: amount('Paintings a month without a coupon, through any key.'),
  active_sessions: amount('Sessions that are launching or running.'),
  pending_launches: amount('Pending launches: sessions whose summon key is not used yet.'),
  active_generations: amount('Artifacts whose generation is queued or running.'),
  open_uploads: amount('Uploads that are announced and neither complete nor expired.'),
  open_upload_bytes: amount('Announced bytes of these uploads.'),
  open_uploads_in_collection: amount('Of these uploads, those into one collection.'),
  rate_percent: percent,
} satisfies Record<LimitName, TInteger>

const overrides = {
  paints_per_address: Type.Optional(limitFields.paints_per_address),
  paints_per_collection: Type.Optional(limitFields.paints_per_collection),
  paints_per_day: Type.Optional(limitFields.paints_per_day),
  upload_bytes_per_address: Type.Optional(limitFields.upload_bytes_per_address),
  stored_bytes: Type.Optional(limitFields.stored_bytes),
  open_streams: Type.Optional(limitFields.open_streams),
  paints_per_month: Type.Optional(limitFields.paints_per_month),
  active_sessions: Type.Optional(limitFields.active_sessions),
  pending_launches: Type.Optional(limitFields.pending_launches),
  active_generations: Type.Optional(limitFields.active_generations),
  open_uploads: Type.Optional(limitFields.open_uploads),
  open_upload_bytes: Type.Optional(limitFields.open_upload_bytes),
  open_uploads_in_collection: Type.Optional(limitFields.open_uploads_in_collection),
  rate_percent: Type.Optional(limitFields.rate_percent),
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
    paints_per_month: 1_000,
    active_sessions: 500,
    pending_launches: 10_000,
    active_generations: 200,
    open_uploads: 1_000,
    open_upload_bytes: 21_474_836_480,
    open_uploads_in_collection: 100,
    rate_percent: 100,
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
    description: 'Operator only. Every limit that differs between tenants, and how much of the quota of stored bytes is used.',
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
      'default. Takes effect with the next request; `rate_percent` in every process normally within a second and ' +
      'never later than 15 seconds. A limit below what exists deletes and stops nothing; it only rejects what is new.',
    caller: 'operator',
    params,
    body: closed(overrides),
    answers: { 200: { description: 'The limits.', data: TenantLimits } },
    errors: ['state_conflict'],
    example: { body: example.overrides, data: example },
  }),
}
