import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { hashCredential } from '#crypto/random.ts'
import { cookieNames, lifetimeSeconds, linkSeconds, makeCookie, readCookie } from '#features/console/session.ts'
import type { Browser, NewCookies } from '#features/console/sign-in.ts'

export function browserOf(ctx: Context, req: FastifyRequest): Browser {
  const tokenHash = tokenHashOf(ctx, req)
  const tokenHashes = tokenHash ? [tokenHash] : []
  return { address: req.ip, userAgent: req.headers['user-agent'], requestId: req.id, tokenHashes }
}

/** The hash of the token in the session cookie of the request; undefined: it has none. */
export function tokenHashOf({ config }: Context, req: FastifyRequest): Buffer | undefined {
  const token = readCookie(req.headers.cookie, cookieNames(config.consoleUrl).session)
  return token === undefined ? undefined : hashCredential(token)
}

/** Sets the cookies of a session; undefined: removes them. */
export function setCookies({ config }: Context, reply: FastifyReply, cookies: NewCookies | undefined): void {
  const names = cookieNames(config.consoleUrl)
  const terms = { secure: names.secure, sameSite: 'Strict', maxAgeSeconds: cookies ? lifetimeSeconds : 0 } as const
  reply.header('set-cookie', [
    makeCookie(names.session, cookies?.token ?? '', terms),
    makeCookie(names.csrf, cookies?.csrf ?? '', terms),
  ])
}

/** Removes what the browser remembers of a sign-in, so that its values are used once. */
export function forgetSignIn({ config }: Context, reply: FastifyReply): void {
  const { signIn, invitation, secure } = cookieNames(config.consoleUrl)
  const terms = { secure, sameSite: 'Lax', maxAgeSeconds: 0 } as const
  for (const name of [signIn, invitation]) reply.header('set-cookie', makeCookie(name, '', terms))
}

/** Lax, because the browser comes back from another site. */
function setShortCookie(reply: FastifyReply, name: string, value: string, secure: boolean): void {
  reply.header('set-cookie', makeCookie(name, value, { secure, sameSite: 'Lax', maxAgeSeconds: linkSeconds }))
}

export function rememberInvitation({ config }: Context, reply: FastifyReply, secret: string): void {
  const { invitation, secure } = cookieNames(config.consoleUrl)
  setShortCookie(reply, invitation, secret, secure)
}

export function rememberSignIn({ config }: Context, reply: FastifyReply, value: string): void {
  const { signIn, secure } = cookieNames(config.consoleUrl)
  setShortCookie(reply, signIn, value, secure)
}
