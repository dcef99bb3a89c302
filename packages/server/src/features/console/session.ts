import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { MemberRole } from '@atrium/contract/roles'
import { hashCredential } from '#crypto/random.ts'
import type { Context } from '#features/context.ts'
import type { ResolvedKey } from '#features/keys/key.ts'

interface SessionMember {
  id: string
  email: string
  name: string | null
  role: MemberRole
}

/** A session that is accepted now. */
export interface ConsoleSession {
  id: string
  csrfHash: Buffer
  createdAt: string
  /** The end of the session, even if it is used all the time. */
  expiresAt: string
  /** undefined: the session of an operator. */
  tenant: { id: string; name: string } | undefined
  /** undefined: an operator, or an owner who signed in with a link of the operator. */
  member: SessionMember | undefined
  role: MemberRole
  /** What handlers see in place of a key; undefined for an operator. */
  key: ResolvedKey | undefined
}

/** A session that is not used for this time ends. */
export const idleSeconds = 12 * 3_600
/** A session ends after this time, however it is used. */
export const lifetimeSeconds = 7 * 24 * 3_600
/** A link of `atrium console-link`, and of the start. */
export const linkSeconds = 600
/** An invitation. */
export const invitationSeconds = 7 * 24 * 3_600

/** The names of the cookies: the session, and the secret of X-Atrium-CSRF, for the page to read again after a reload. */
export interface CookieNames {
  session: string
  csrf: string
  /** The sign-in at the identity provider that this browser has begun. */
  signIn: string
  /** The invitation that this sign-in accepts. */
  invitation: string
  secure: boolean
}

/**
 * Browsers accept the prefix `__Host-` only with Secure, which most of them store only from https. Plain http is for
 * loopback: with an ATRIUM_PUBLIC_URL of another host on plain http, these cookies cross the network as they are, and the
 * start warns of it.
 */
export function cookieNames(consoleUrl: string): CookieNames {
  const secure = new URL(consoleUrl).protocol === 'https:'
  const prefix = secure ? '__Host-' : ''
  const name = `${prefix}atrium-console`
  return { session: name, csrf: `${name}-csrf`, signIn: `${name}-sign-in`, invitation: `${name}-invitation`, secure }
}

/** The value of a cookie of this name (RFC 6265, 5.4); undefined if it is missing or sent twice. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '').split(';').flatMap((pair) => {
    const [key = '', ...value] = pair.trim().split('=')
    return key === name ? [value.join('=')] : []
  })
  return values.length === 1 ? values[0] : undefined
}

interface CookieTerms {
  secure: boolean
  sameSite: 'Strict' | 'Lax'
  maxAgeSeconds: number
}

/** A cookie that scripts cannot read and that only this host receives. */
export function makeCookie(name: string, value: string, { secure, sameSite, maxAgeSeconds }: CookieTerms): string {
  return `${name}=${value}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${maxAgeSeconds}${secure ? '; Secure' : ''}`
}

/** The value of the session cookie, if it is the credential of the request: any other credential replaces it. */
export function presentedSession(ctx: Pick<Context, 'config'>, headers: IncomingHttpHeaders): string | undefined {
  const { cookie, authorization, 'x-api-key': key, 'x-admin-token': adminToken } = headers
  if (cookie === undefined || authorization !== undefined || key !== undefined || adminToken !== undefined) return undefined
  return readCookie(cookie, cookieNames(ctx.config.consoleUrl).session)
}

export function isCsrfOf({ csrfHash }: ConsoleSession, token: string): boolean {
  return timingSafeEqual(hashCredential(token), csrfHash)
}
