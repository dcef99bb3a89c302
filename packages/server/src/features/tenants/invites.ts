import { limits } from '@atrium/contract/limits'
import { hashCredential, newCredential, newId } from '#crypto/random.ts'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { cutTimePage, readTimeCursor } from '#http/cursor.ts'
import { futureTime } from '#http/request-time.ts'
import { insertInvite, type Invite, listInvites as rowsOf, revokeInvite as revoke } from './invite-store.ts'

const createInvite: HandlerOf<'createInvite'> = async ({ tx, body }) => {
  const { uses = 1 } = body
  const expiresAt = body.expires_at === undefined ? null : futureTime(body.expires_at, '/expires_at')
  const code = newCredential('invite')
  const id = newId('inviteEntry')
  const hint = `${code.slice(0, 4)}…${code.slice(-4)}`
  await insertInvite(tx, { id, codeHash: hashCredential(code), hint, uses, expiresAt })
  return { status: 201, data: { id, invite_code: code, uses, expires_at: expiresAt } }
}

const list = 'invites'

const listInvites: HandlerOf<'listInvites'> = async ({ ctx, query }) => {
  const { limit = limits.pageDefault } = query
  const rows = await rowsOf(ctx.db, readTimeCursor(list, query.cursor), limit + 1)
  const { page, nextCursor } = cutTimePage(list, rows, limit)
  const nowMs = Date.now()
  return { status: 200, data: page.map((invite) => inviteView(invite, nowMs)), nextCursor }
}

const revokeInvite: HandlerOf<'revokeInvite'> = async ({ tx, params }) => {
  if (!(await revoke(tx, params.inviteId))) throw new ApiError('not_found')
  return { status: 204 }
}

function inviteView(invite: Invite, nowMs: number) {
  const { id, hint, uses, usesLeft, createdAt, expiresAt } = invite
  return {
    id,
    hint,
    state: inviteState(invite, nowMs),
    uses,
    uses_left: usesLeft,
    created_at: createdAt,
    expires_at: expiresAt,
  }
}

function inviteState({ usesLeft, expiresAt, revokedAt }: Invite, nowMs: number): 'active' | 'used' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked'
  if (usesLeft === 0) return 'used'
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? 'expired' : 'active'
}

export const inviteHandlers = { createInvite, listInvites, revokeInvite } satisfies Partial<Handlers>
