import type { IncomingHttpHeaders } from 'node:http'
import { takesConsoleSessions, type Operation } from '@atrium/contract/operation'
import { isCredential } from '@atrium/contract/tokens'
import { hashCredential } from '#crypto/random.ts'
import { ApiError } from '#errors/api-error.ts'
import type { Context } from '#features/context.ts'
import { type ConsoleSession, isCsrfOf, presentedSession } from '#features/console/session.ts'
import { recordSessionUse, resolveSessions } from '#features/console/session-store.ts'

/** presentedSession for a request of this operation. */
export function sessionFor(ctx: Context, op: Pick<Operation, 'caller'>, headers: IncomingHttpHeaders): string | undefined {
  return takesConsoleSessions(op) ? presentedSession(ctx, headers) : undefined
}

/** Looks the session up at each call, so that a sign-out or the removal of a member applies at once. */
export async function authenticateSession(ctx: Context, token: string): Promise<ConsoleSession> {
  const session = await findSession(ctx, token)
  await recordSessionUse(ctx.db, session.id)
  return session
}

/** The session as it is now. Throws if it has ended. */
export async function findSession(ctx: Context, token: string): Promise<ConsoleSession> {
  const [session] = isCredential('consoleSession', token)
    ? await resolveSessions(ctx.db, [hashCredential(token).toString('base64')])
    : []
  if (!session) throw new ApiError('no_console_session')
  if (session.key?.tenantStatus === 'suspended') throw new ApiError('tenant_suspended')
  return session
}

/** A page of another site can send neither this header nor, with SameSite=Strict, the cookie. */
export function assertCsrf(session: ConsoleSession, headers: IncomingHttpHeaders): void {
  const { 'x-atrium-csrf': token } = headers
  if (typeof token !== 'string' || !isCsrfOf(session, token)) throw new ApiError('csrf_required')
}

/** Checks that the session may call the operation. */
export function assertRole({ tenant, role }: ConsoleSession, { caller, roles = [] }: Partial<Operation>): void {
  const isForOperators = caller === 'operator'
  if (isForOperators !== (tenant === undefined))
    throw new ApiError('role_not_allowed', {
      message: isForOperators
        ? 'This operation is for operators, and the session belongs to a tenant.'
        : 'The session of an operator belongs to no tenant. Sign in to the console of the tenant.',
    })
  if (isForOperators || roles.includes(role)) return
  const message =
    roles.length === 0
      ? 'The console cannot call this operation. Call it with a key.'
      : `This operation is for the roles ${roles.join(', ')}, and this session has the role ${role}.`
  throw new ApiError('role_not_allowed', { message })
}
