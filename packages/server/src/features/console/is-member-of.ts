import type { IncomingHttpHeaders } from 'node:http'
import { isCredential } from '@atrium/contract/tokens'
import { hashCredential } from '#crypto/random.ts'
import type { Context } from '#features/context.ts'
import { refusalOf } from '#features/keys/key.ts'
import { isCsrfOf, presentedSession } from './session.ts'
import { resolveSessions } from './session-store.ts'

/**
 * Whether a console session of this tenant made the request, for operations that anyone may call. Without the header of
 * the console the cookie counts for nothing: a picture in another page of this origin is not fetched with its rights.
 */
export async function isMemberOf(ctx: Context, tenantId: string, headers: IncomingHttpHeaders): Promise<boolean> {
  const csrf = headers['x-atrium-csrf']
  // After a restore, rights of members may have changed since the snapshot.
  if (typeof csrf !== 'string' || ctx.restoreWindow.isUnconfirmed) return false
  const token = presentedSession(ctx, headers)
  if (token === undefined || !isCredential('consoleSession', token)) return false
  const [session] = await resolveSessions(ctx.db, [hashCredential(token).toString('base64')])
  if (session?.tenant?.id !== tenantId || refusalOf(session.key, Date.now()) !== undefined) return false
  return isCsrfOf(session, csrf)
}
