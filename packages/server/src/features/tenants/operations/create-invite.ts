import type { HandlerOf } from '#features/handler.ts'
import { futureTime } from '#http/future-time.ts'
import { hashCredential, newCredential } from '#crypto/random.ts'
import { insertInvite } from '../store.ts'

export const createInvite: HandlerOf<'createInvite'> = async ({ tx, body }) => {
  const { uses = 1 } = body
  const expiresAt = body.expires_at === undefined ? null : futureTime(body.expires_at, '/expires_at')
  const code = newCredential('invite')
  await insertInvite(tx, hashCredential(code), uses, expiresAt)
  return { status: 201, data: { invite_code: code, uses, expires_at: expiresAt } }
}
