import { limits } from '@atrium/contract/limits'
import { hashCredential, newCredential, newId } from '#crypto/random.ts'
import { ApiError } from '#errors/api-error.ts'
import { cutTimePage, readTimeCursor } from '#http/cursor.ts'
import { futureTime } from '#http/request-time.ts'
import type { HandlerOf, Handlers } from '../handler.ts'
import {
  findCredential,
  insertCredential,
  listActiveForUpdate,
  listCredentials,
  type OperatorCredential,
  revokeCredential,
} from './credential-store.ts'

const conflict = (message: string) => new ApiError('state_conflict', { message })

const createOperatorCredential: HandlerOf<'createOperatorCredential'> = async ({ tx, body }) => {
  const { name } = body
  const expiresAt = body.expires_at === undefined ? null : futureTime(body.expires_at, '/expires_at')
  const active = await listActiveForUpdate(tx)
  if (active.some((credential) => credential.name === name))
    throw conflict('An active credential has this name. Choose another name, or revoke that one first.')
  if (active.length >= limits.operatorCredentials)
    throw conflict(`There are ${limits.operatorCredentials} active credentials, which is the most. Revoke one first.`)
  const token = newCredential('operatorToken')
  const hint = `${token.slice(0, 4)}…${token.slice(-4)}`
  const id = newId('operatorCredential')
  const made = await insertCredential(tx, { id, name, hint, tokenHash: hashCredential(token), expiresAt })
  return { status: 201, data: { ...credentialView(made), token } }
}

const list = 'operator credentials'

const listOperatorCredentials: HandlerOf<'listOperatorCredentials'> = async ({ ctx, query }) => {
  const { limit = limits.pageDefault } = query
  const rows = await listCredentials(ctx.db, readTimeCursor(list, query.cursor), limit + 1)
  const { page, nextCursor } = cutTimePage(list, rows, limit)
  return { status: 200, data: page.map(credentialView), nextCursor }
}

const revokeOperatorCredential: HandlerOf<'revokeOperatorCredential'> = async ({ ctx, tx, params }) => {
  const active = await listActiveForUpdate(tx)
  const found = await findCredential(tx, params.credentialId)
  if (!found) throw new ApiError('not_found')
  const others = active.some(({ id }) => id !== found.id)
  if (!ctx.config.bootstrapToken && !others && active.length > 0)
    throw conflict('This is the last active credential, and ATRIUM_BOOTSTRAP_TOKEN is off. Create another one first.')
  await revokeCredential(tx, found.id)
  return { status: 204 }
}

function credentialView({ id, name, hint, createdAt, lastUsedAt, expiresAt, revokedAt }: OperatorCredential) {
  return {
    id,
    name,
    hint,
    created_at: createdAt,
    last_used_at: lastUsedAt,
    expires_at: expiresAt,
    revoked_at: revokedAt,
  }
}

export const operatorCredentialHandlers = {
  createOperatorCredential,
  listOperatorCredentials,
  revokeOperatorCredential,
} satisfies Partial<Handlers>
