import { limits } from '@atrium/contract/limits'
import { parseEmail } from '@atrium/identity/email'
import { newId } from '#crypto/random.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { HandlerOf } from '#features/handler.ts'
import { notifyKeyChange } from '#features/keys/store.ts'
import { deleteLinksOf } from './link-store.ts'
import {
  deleteMember,
  insertMember,
  listMembers as listRows,
  listMembersForUpdate,
  type Member,
  updateMember as updateRow,
} from './member-store.ts'
import { invitationSeconds } from './session.ts'
import { makeLink } from './sign-in.ts'

const conflict = (message: string) => new ApiError('state_conflict', { message })

export const listMembers: HandlerOf<'listMembers'> = async ({ ctx, tenantId }) => ({
  status: 200,
  data: (await listRows(ctx.db, tenantId)).map(memberView),
})

export const createMember: HandlerOf<'createMember'> = async ({ ctx, tx, tenantId, body }) => {
  const email = parseEmail(body.email)
  if (email === undefined) throw invalid('/email', 'must be an e-mail address')
  const members = await listMembersForUpdate(tx, tenantId)
  if (members.some((member) => member.email === email))
    throw conflict('There is a member with this address. PATCH the member with `invite` for a new link.')
  if (members.length >= limits.members)
    throw conflict(`The tenant has ${limits.members} members, which is the most. Remove one first.`)
  const member = await insertMember(tx, tenantId, { id: newId('member'), email, name: body.name ?? null, role: body.role })
  await recordEvent(tx, tenantId, 'member.added', { member_id: member.id, role: member.role })
  const target = { kind: 'member', tenantId, memberId: member.id } as const
  const { url, expiresAt } = await makeLink(tx, ctx.config.consoleUrl, target, invitationSeconds)
  return { status: 201, data: { ...memberView(member), invitation: { url, expires_at: expiresAt } } }
}

export const updateMember: HandlerOf<'updateMember'> = async ({ ctx, tx, tenantId, params, body }) => {
  const members = await listMembersForUpdate(tx, tenantId)
  const found = getMember(members, params.memberId)
  const { role = found.role, name = found.name, invite } = body
  if (role !== 'owner') assertOtherOwner(members, found)
  if (invite && found.account) throw conflict('This member signs in with an account of the identity provider, without a link.')
  const member = await updateRow(tx, tenantId, { id: found.id, role, name })
  if (!invite) return { status: 200, data: memberView(member) }
  await deleteLinksOf(tx, tenantId, member.id)
  const target = { kind: 'member', tenantId, memberId: member.id } as const
  const { url, expiresAt } = await makeLink(tx, ctx.config.consoleUrl, target, invitationSeconds)
  return { status: 200, data: { ...memberView(member), invitation: { url, expires_at: expiresAt } } }
}

export const removeMember: HandlerOf<'removeMember'> = async ({ tx, tenantId, params }) => {
  const members = await listMembersForUpdate(tx, tenantId)
  const found = getMember(members, params.memberId)
  assertOtherOwner(members, found)
  await deleteMember(tx, tenantId, found.id)
  await recordEvent(tx, tenantId, 'member.removed', { member_id: found.id })
  // Streams that the member opened end with it.
  notifyKeyChange(tx, tenantId)
  return { status: 204 }
}

function getMember(members: Member[], id: string): Member {
  const found = members.find((member) => member.id === id)
  if (!found) throw new ApiError('not_found')
  return found
}

/** An owner who has not signed in yet may never do so, and does not count. */
function assertOtherOwner(members: Member[], member: Member): void {
  const isOwner = (one: Member) => one.role === 'owner' && one.joinedAt !== null
  if (isOwner(member) && !members.some((other) => other.id !== member.id && isOwner(other)))
    throw conflict('This is the last owner of the tenant. Make another member an owner first.')
}

function memberView({ id, email, name, role, createdAt, joinedAt }: Member) {
  const status: 'invited' | 'active' = joinedAt === null ? 'invited' : 'active'
  return { id, email, name, role, status, created_at: createdAt, joined_at: joinedAt }
}
