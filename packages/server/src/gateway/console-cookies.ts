import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { cookieNames, lifetimeSeconds, linkSeconds, makeCookie } from '#features/console/session.ts'
import type { Browser, NewCookies } from '#features/console/sign-in.ts'

export function browserOf(req: FastifyRequest): Browser {
  return { address: req.ip, userAgent: req.headers['user-agent'], requestId: req.id }
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
