import { Type } from './type.ts'
import { operation } from './operation.ts'
import { owners } from './roles.ts'
import { closed, id, nullable, oneOf, Timestamp } from './schemas.ts'
import type { StreamBody } from './streams.ts'

const params = Type.Object({ tenant_id: id('tenant') })

const TenantDeletion = Type.Object({
  tenant_id: id('tenant'),
  state: oneOf(['none', 'scheduled', 'running', 'done'], { description: 'Only a scheduled deletion can be cancelled.' }),
  requested_at: nullable(Timestamp),
  due_at: nullable(Timestamp),
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
  rows_removed: Type.Integer({ minimum: 0, description: 'Rows of the database that are removed so far.' }),
})

const deletionExample = {
  tenant_id: 'ten_4fRzK0vXcB1mQwErTy7uPa',
  state: 'scheduled',
  requested_at: '2026-11-20T09:30:00.000Z',
  due_at: '2026-11-27T09:30:00.000Z',
  started_at: null,
  finished_at: null,
  rows_removed: 0,
}

const lines = {
  description: 'The lines.',
  data: Type.Unsafe<StreamBody<unknown>>({ type: 'string', description: 'JSON values, each followed by a line feed.' }),
  raw: 'application/x-ndjson',
} as const
const exportQuery = closed({
  blobs: Type.Optional(Type.Boolean({ default: false, description: 'Whether to include the stored files.' })),
})
const linesExample = '{"format":"atrium.tenant","version":1}\n{"end":true,"rows":0,"blobs":0}\n'

export const tenantDataOperations = {
  exportOwnTenant: operation({
    id: 'exportOwnTenant',
    kind: 'stream',
    method: 'GET',
    path: '/tenant/export',
    status: 'live',
    tag: 'Tenants',
    summary: 'Export all data of your tenant',
    description:
      'Only the session of an owner in the console may call this: a key may not, whatever its kind. The lines are those of the ' +
      "operator's export: `{format, version, tenant_id, exported_at}`, then `{table, row}` for each row and, with `blobs`, " +
      '`{blob: {key, bytes, offset, base64}}` for the pieces of the stored files. The last line is `{end: true, rows, blobs}`; an export ' +
      'without it was cut. Keys, tokens, codes and other secrets are not exported. An export whose reader is slow may be cut when ' +
      'another tenant needs its place. The export is aborted within a second if the ' +
      'session ends or the member is no longer an owner. The audit log records the call, and such an abort as a second entry ' +
      'with the outcome `refused`.',
    caller: 'secret',
    roles: owners,
    sessionOnly: true,
    audited: true,
    query: exportQuery,
    answers: { 200: lines },
    example: { data: linesExample },
  }),
  deleteOwnTenant: operation({
    id: 'deleteOwnTenant',
    kind: 'write',
    method: 'POST',
    path: '/tenant/deletion',
    status: 'live',
    tag: 'Tenants',
    summary: 'Delete your tenant and its data',
    description:
      'Only the session of an owner in the console may call this: a key may not, whatever its kind. `tenant_id` is the id of ' +
      'your tenant, as a confirmation. The tenant is suspended immediately: its keys, pages and console stop working. After 7 ' +
      'days its data is removed; until then an operator can cancel the deletion.',
    caller: 'secret',
    roles: owners,
    sessionOnly: true,
    audited: true,
    body: closed({ tenant_id: id('tenant') }),
    answers: { 202: { description: 'The deletion is scheduled.', data: TenantDeletion } },
    example: { body: { tenant_id: deletionExample.tenant_id }, data: deletionExample },
  }),
  exportTenant: operation({
    id: 'exportTenant',
    kind: 'stream',
    method: 'GET',
    path: '/tenants/{tenant_id}/export',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Export all data of a tenant',
    description:
      'Operator only. Everything that the database has of the tenant, as `application/x-ndjson`. The first line is `{format, version, ' +
      'tenant_id, exported_at}`, then each line is a row, `{table, row}`, and the last line is `{end: true, rows, blobs}`. An export ' +
      'without that line was cut: start again. Lists of accounts that may read an item or artifact are opened (`access_list`). Keys, ' +
      'tokens, codes and other secrets are not exported, nor are rooms, which the operator cannot read. With `blobs`, the stored ' +
      'originals follow in pieces: `{blob: {key, bytes, offset, base64}}`. Pages are read one after the other, so changes during the export may be included in part: suspend the tenant ' +
      'first for a consistent export. Once the deletion of the tenant has begun, the answer is 409 `state_conflict` until the deletion has ended, and an export ' +
      'that is running is cut. The export is aborted within a second if the credential of the operator is revoked or ' +
      'expires, or if the session of the operator ends. The audit log records the call, and such an abort as a second entry ' +
      'with the outcome `refused`.',
    caller: 'operator',
    audited: true,
    params,
    query: exportQuery,
    answers: { 200: lines },
    errors: ['not_found', 'state_conflict'],
    example: { data: linesExample },
  }),
  deleteTenant: operation({
    id: 'deleteTenant',
    kind: 'write',
    method: 'POST',
    path: '/tenants/{tenant_id}/deletion',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Delete a tenant and its data',
    description:
      'Operator only. Suspends the tenant at once. After `after_days` (default 7) its rows and stored files are removed ' +
      'in the background, in batches; until that begins, the deletion can be cancelled. The ledger, epochs and the audit ' +
      'log stay, without names and texts, and so do rooms, which belong to the people in them. A repeat changes nothing ' +
      'and shows the state.',
    caller: 'operator',
    params,
    body: closed({
      after_days: Type.Optional(Type.Integer({ minimum: 0, maximum: 365, default: 7, description: '0: as soon as possible.' })),
    }),
    answers: { 202: { description: 'The deletion is scheduled.', data: TenantDeletion } },
    errors: ['not_found'],
    example: { body: { after_days: 7 }, data: deletionExample },
  }),
  getTenantDeletion: operation({
    id: 'getTenantDeletion',
    kind: 'read',
    method: 'GET',
    path: '/tenants/{tenant_id}/deletion',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Read how far a deletion is',
    description: 'Operator only. The state is `none` if no deletion of the tenant was requested, or if it was cancelled.',
    caller: 'operator',
    params,
    answers: { 200: { description: 'The deletion.', data: TenantDeletion } },
    errors: ['not_found'],
    example: { data: deletionExample },
  }),
  cancelTenantDeletion: operation({
    id: 'cancelTenantDeletion',
    kind: 'write',
    method: 'DELETE',
    path: '/tenants/{tenant_id}/deletion',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Cancel a deletion',
    description:
      'Operator only. Restores the status that the tenant had before, and ends all its sessions of the console, so its members ' +
      'sign in again. A deletion that has begun cannot be cancelled: 409 `state_conflict`. Without a deletion, nothing changes.',
    caller: 'operator',
    params,
    answers: { 204: { description: 'There is no deletion.' } },
    errors: ['not_found', 'state_conflict'],
  }),
}
