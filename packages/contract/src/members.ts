import { Type } from './type.ts'
import { operation } from './operation.ts'
import { everyMember, memberRoles, owners } from './roles.ts'
import { closed, EmailAddress, id, nullable, oneOf, Timestamp } from './schemas.ts'

const role = oneOf([...memberRoles])
const name = Type.String({ minLength: 1, maxLength: 120 })

const memberFields = {
  id: id('member'),
  email: Type.String(),
  name: nullable(Type.String()),
  role,
  status: oneOf(['invited', 'active'], { description: 'invited: has not signed in yet.' }),
  created_at: Timestamp,
  joined_at: nullable(Timestamp),
}

const invitation = Type.Object({
  url: Type.String({ description: 'Signs in once. Send it to the member over a channel that you trust.' }),
  expires_at: Timestamp,
})

const memberExample = {
  id: 'mem_4fRzK0vXcB1mQwErTy7uPa',
  email: 'ada@harbour.example',
  name: 'Ada',
  role: 'moderator' as const,
  status: 'invited' as const,
  created_at: '2026-11-20T09:30:00.000Z',
  joined_at: null,
}
const invitationExample = { url: 'https://atrium.example/console#link=clk_…', expires_at: '2026-11-27T09:30:00.000Z' }

const ownersOnly = 'Only the session of an owner in the console may call this: a key may not, whatever its kind.'

export const memberOperations = {
  listMembers: operation({
    id: 'listMembers',
    kind: 'read',
    method: 'GET',
    path: '/tenant/members',
    status: 'live',
    tag: 'Tenants',
    summary: 'List the members of your tenant',
    description: 'The people who may use the console of the tenant, and those who are invited. Oldest first.',
    caller: 'secret',
    roles: everyMember,
    answers: { 200: { description: 'The members.', data: Type.Array(Type.Object(memberFields)) } },
    example: { data: [memberExample] },
  }),
  createMember: operation({
    id: 'createMember',
    kind: 'write',
    method: 'POST',
    path: '/tenant/members',
    status: 'live',
    tag: 'Tenants',
    summary: 'Invite a member',
    description:
      `${ownersOnly} The answer has a link, once, which is valid for 7 days. Where the console has an identity ` +
      'provider, the member signs in there with an account of this address, and from then on with that account.',
    caller: 'secret',
    roles: owners,
    sessionOnly: true,
    audited: true,
    idempotency: 'accepted',
    body: closed({ email: EmailAddress, role, name: Type.Optional(name) }),
    answers: {
      201: { description: 'The member.', data: Type.Object({ ...memberFields, invitation }), oneTimeSecret: true },
    },
    errors: ['state_conflict'],
    example: {
      body: { email: 'ada@harbour.example', role: 'moderator', name: 'Ada' },
      data: { ...memberExample, invitation: invitationExample },
    },
  }),
  updateMember: operation({
    id: 'updateMember',
    kind: 'write',
    method: 'PATCH',
    path: '/tenant/members/{memberId}',
    status: 'live',
    tag: 'Tenants',
    summary: 'Change the role of a member, or invite again',
    description:
      `${ownersOnly} A new role applies to the next request of the member. With \`invite\`, the answer has a new link, and ` +
      'the previous ones end. A `name` of null removes it. The last owner who has signed in keeps the role: 409 `state_conflict`.',
    caller: 'secret',
    roles: owners,
    sessionOnly: true,
    audited: true,
    params: Type.Object({ memberId: id('member') }),
    body: closed(
      {
        role: Type.Optional(role),
        name: Type.Optional(nullable(name)),
        invite: Type.Optional(Type.Unsafe<true>({ type: 'boolean', const: true })),
      },
      { minProperties: 1 },
    ),
    answers: {
      200: {
        description: 'The member; with `invite`, also the link.',
        data: Type.Object({ ...memberFields, invitation: Type.Optional(invitation) }),
        oneTimeSecret: true,
      },
    },
    errors: ['state_conflict'],
    example: { body: { role: 'developer' }, data: { ...memberExample, role: 'developer' } },
  }),
  removeMember: operation({
    id: 'removeMember',
    kind: 'write',
    method: 'DELETE',
    path: '/tenant/members/{memberId}',
    status: 'live',
    tag: 'Tenants',
    summary: 'Remove a member',
    description:
      `${ownersOnly} The sessions and links of the member end at once. The last owner who has signed in cannot be ` +
      'removed: 409 `state_conflict`.',
    caller: 'secret',
    roles: owners,
    sessionOnly: true,
    audited: true,
    params: Type.Object({ memberId: id('member') }),
    answers: { 204: { description: 'Removed.' } },
    errors: ['state_conflict'],
  }),
}
