import { Type } from './type.ts'
import { operation } from './operation.ts'
import { closed, id, nullable, oneOf, PageQuery, Timestamp } from './schemas.ts'

const Invite = Type.Object({
  id: id('inviteEntry'),
  hint: nullable(
    Type.String({ description: 'The prefix and the last four characters. null: created before hints were stored.' }),
  ),
  state: oneOf(['active', 'used', 'expired', 'revoked']),
  uses: nullable(Type.Integer({ description: 'Sign-ups that it was created for. null: created before this was stored.' })),
  uses_left: Type.Integer({ minimum: 0 }),
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
})

const inviteExample = {
  id: 'ivt_4fRzK0vXcB1mQwErTy7uPa',
  hint: 'inv_…9xQ2',
  state: 'active',
  uses: 5,
  uses_left: 3,
  created_at: '2026-11-20T09:30:00.000Z',
  expires_at: null,
}

export const inviteOperations = {
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
    bodyOptional: true,
    body: closed({
      uses: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1 })),
      expires_at: Type.Optional(Timestamp),
    }),
    answers: {
      201: {
        description: 'The invite.',
        data: Type.Object({
          id: id('inviteEntry'),
          invite_code: Type.String(),
          uses: Type.Integer(),
          expires_at: nullable(Timestamp),
        }),
        oneTimeSecret: true,
      },
    },
    example: { body: { uses: 1 }, data: { id: inviteExample.id, invite_code: 'inv_…', uses: 1, expires_at: null } },
  }),
  listInvites: operation({
    id: 'listInvites',
    kind: 'read',
    method: 'GET',
    path: '/tenants/invites',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'List the invites',
    description: 'Operator only. All invites, newest first. Codes are never shown.',
    caller: 'operator',
    query: PageQuery,
    answers: { 200: { description: 'A page of invites.', data: Type.Array(Invite), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [inviteExample] },
  }),
  revokeInvite: operation({
    id: 'revokeInvite',
    kind: 'write',
    method: 'DELETE',
    path: '/tenants/invites/{inviteId}',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Revoke an invite',
    description: 'Operator only. The invite signs up nobody from now on. Revoking a revoked or used invite changes nothing.',
    caller: 'operator',
    params: Type.Object({ inviteId: id('inviteEntry') }),
    answers: { 204: { description: 'Revoked.' } },
    errors: ['not_found'],
  }),
}
