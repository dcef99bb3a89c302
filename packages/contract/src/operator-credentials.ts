import { Type } from './type.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { closed, id, nullable, PageQuery, Timestamp } from './schemas.ts'

const fields = {
  id: id('operatorCredential'),
  name: Type.String(),
  hint: Type.String({ description: 'The prefix and the last four characters, to distinguish tokens.' }),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
  expires_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
}

const example = {
  id: 'opc_4fRzK0vXcB1mQwErTy7uPa',
  name: 'ada',
  hint: 'opt_…9xQ2',
  created_at: '2026-11-20T09:30:00.000Z',
  last_used_at: null,
  expires_at: '2027-02-20T09:30:00.000Z',
  revoked_at: null,
}

export const operatorCredentialOperations = {
  createOperatorCredential: operation({
    id: 'createOperatorCredential',
    kind: 'write',
    method: 'POST',
    path: '/operator/credentials',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Create an operator credential',
    description:
      'Operator only. A token of its own for one operator or one program, sent as X-Admin-Token. The token is returned ' +
      'only in this answer. The audit log names the credential with each of its actions. At most ' +
      `${limits.operatorCredentials} are active; their names differ (409 \`state_conflict\`).`,
    caller: 'operator',
    idempotency: 'accepted',
    body: closed({
      name: Type.String({ minLength: 1, maxLength: 60, pattern: '^[A-Za-z0-9][A-Za-z0-9 ._@-]*$' }),
      expires_at: Type.Optional(Timestamp),
    }),
    answers: {
      201: { description: 'The credential.', data: Type.Object({ ...fields, token: Type.String() }), oneTimeSecret: true },
    },
    errors: ['state_conflict'],
    example: { body: { name: 'ada', expires_at: '2099-02-20T09:30:00.000Z' }, data: { ...example, token: 'opt_…' } },
  }),
  listOperatorCredentials: operation({
    id: 'listOperatorCredentials',
    kind: 'read',
    method: 'GET',
    path: '/operator/credentials',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'List the operator credentials',
    description:
      'Operator only. All credentials, oldest first, revoked and expired ones too. `last_used_at` is accurate to ten ' +
      'seconds. The bootstrap token (ATRIUM_ADMIN_TOKEN) is not among them.',
    caller: 'operator',
    query: PageQuery,
    answers: { 200: { description: 'A page of credentials.', data: Type.Array(Type.Object(fields)), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [example] },
  }),
  revokeOperatorCredential: operation({
    id: 'revokeOperatorCredential',
    kind: 'write',
    method: 'DELETE',
    path: '/operator/credentials/{credentialId}',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Revoke an operator credential',
    description:
      'Operator only. Every process refuses the token from its next call on. Revoking a revoked credential is a no-op. ' +
      'Where the bootstrap token is switched off, the last active credential cannot be revoked: 409 `state_conflict`.',
    caller: 'operator',
    params: Type.Object({ credentialId: id('operatorCredential') }),
    answers: { 204: { description: 'Revoked.' } },
    errors: ['not_found', 'state_conflict'],
  }),
}
