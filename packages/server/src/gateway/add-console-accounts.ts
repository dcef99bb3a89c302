import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isId } from '@atrium/contract/tokens'
import { hashCredential } from '#crypto/random.ts'
import { ApiError } from '#errors/api-error.ts'
import type { Context } from '#features/context.ts'
import { cookieNames, readCookie } from '#features/console/session.ts'
import { NotAMemberError, signInByAccount } from '#features/console/sign-in.ts'
import { type ConsoleIdentity, SignInFailedError } from '#ports/console-identity.ts'
import { isFromThisMachine } from '#http/from-this-machine.ts'
import { sendConsolePage } from './add-console.ts'
import { browserOf, forgetSignIn, rememberSignIn, setCookies, tokenHashOf } from './console-cookies.ts'
import { unconfirmedError } from './refuse-unconfirmed.ts'

/** A sign-in that a browser has begun. Only that browser has it, in a cookie. */
interface BegunSignIn {
  state: string
  nonce: string
  verifier: string
  tenantId: string | undefined
  /**
   * The hash of the token of the session that the new one replaces. The session cookie has SameSite=Strict, so a browser
   * does not send it when it comes back from the provider. This cookie is Lax, and a hash in it opens nothing.
   */
  tokenHash: Buffer | undefined
}

/** Adds the sign-in at the identity provider: authorization code with PKCE (RFC 7636), state and nonce. */
export function addAccountRoutes(scope: FastifyInstance, ctx: Context, identity: ConsoleIdentity): void {
  const { consoleUrl } = ctx.config
  const redirectUri = `${consoleUrl}/console/oidc/callback`
  // The development sign-in proves nothing about a person, so nobody signs in with it from another machine.
  const onRequest = async (req: FastifyRequest) => {
    if (!canSignIn(identity, req)) throw new ApiError('not_found')
  }

  const failedBy = (req: FastifyRequest) => (error: unknown) => {
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    req.log.info({ request_id: req.id, reason, err: error }, 'a sign-in to the console failed')
    return { failed: reason }
  }
  const goBack = (reply: FastifyReply, reason: string) => reply.redirect(`${consoleUrl}/console?sign_in=${reason}`, 303)

  scope.get('/console/oidc/start', { onRequest }, async (req, reply) => {
    // The page asks first: another site must not sign somebody in without their knowledge (OpenID Connect Core, 4). Also, the
    // browser sends such a request without the session cookie, so its session would be replaced and stay valid.
    reply.header('vary', 'sec-fetch-site')
    if (!isFromOwnPage(req)) return sendConsolePage(req, reply)
    const { tenant } = req.query as { tenant?: unknown }
    const [state, nonce, verifier] = [newValue(), newValue(), newValue()]
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const url = await identity.authorizationUrl({ redirectUri, state, nonce, challenge }).catch(failedBy(req))
    if (typeof url === 'object') return goBack(reply, url.failed)
    const tenantId = typeof tenant === 'string' && isId('tenant', tenant) ? tenant : undefined
    rememberSignIn(ctx, reply, writeBegun({ state, nonce, verifier, tenantId, tokenHash: tokenHashOf(ctx, req) }))
    return reply.redirect(url, 303)
  })

  scope.get('/console/oidc/callback', { onRequest }, async (req, reply) => {
    if (ctx.restoreWindow.isUnconfirmed) throw unconfirmedError()
    const outcome = await finish(ctx, identity, redirectUri, req).catch(failedBy(req))
    forgetSignIn(ctx, reply)
    if ('failed' in outcome) return goBack(reply, outcome.failed)
    setCookies(ctx, reply, outcome)
    return reply.redirect(`${consoleUrl}/console`, 303)
  })
}

/** Whether the sender of the request can sign in with an account. */
export function canSignIn(identity: ConsoleIdentity | undefined, req: FastifyRequest): boolean {
  return identity !== undefined && (!identity.isDevelopment || isFromThisMachine(req))
}

/** Whether a page of this origin, or somebody who entered the address, sent the request. Old browsers send no such header. */
function isFromOwnPage({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  return site === undefined || site === 'same-origin' || site === 'none'
}

const newValue = () => randomBytes(32).toString('base64url')

async function finish(ctx: Context, identity: ConsoleIdentity, redirectUri: string, req: FastifyRequest) {
  const { state, code, iss } = req.query as Record<string, unknown>
  const names = cookieNames(ctx.config.consoleUrl)
  const begun = readBegun(readCookie(req.headers.cookie, names.signIn))
  if (!begun || typeof state !== 'string' || typeof code !== 'string' || !isSame(state, begun.state))
    throw new SignInFailedError('the answer belongs to no sign-in of this browser, or has no code')
  // RFC 9207: the answer of another provider is refused before its code is sent anywhere.
  if (iss !== undefined && iss !== identity.issuer) throw new SignInFailedError('the answer is of another issuer')
  const person = await identity.redeem({ code, redirectUri, verifier: begun.verifier, nonce: begun.nonce })
  const invitation = readCookie(req.headers.cookie, names.invitation)
  const browser = browserOf(ctx, req)
  const tokenHashes = begun.tokenHash ? [...browser.tokenHashes, begun.tokenHash] : browser.tokenHashes
  return signInByAccount(ctx, person, { invitation, tenantId: begun.tenantId }, { ...browser, tokenHashes })
}

/** What the console shows; undefined: a fault of the server. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof NotAMemberError) return 'not_a_member'
  if (error instanceof SignInFailedError) return 'failed'
  const code = error instanceof ApiError ? error.code : undefined
  if (code === 'tenant_suspended') return code
  return code === 'console_link_invalid' ? 'invitation_invalid' : undefined
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hashCredential(one), hashCredential(other))
}

function writeBegun({ state, nonce, verifier, tenantId = '', tokenHash }: BegunSignIn): string {
  return [state, nonce, verifier, tenantId, tokenHash?.toString('base64url') ?? ''].join('.')
}

function readBegun(text: string | undefined): BegunSignIn | undefined {
  // The previous release writes no hash.
  const [state, nonce, verifier, tenantId, hash] = text?.split('.') ?? []
  if (!state || !nonce || !verifier || tenantId === undefined) return undefined
  return { state, nonce, verifier, tenantId: tenantId || undefined, tokenHash: hash ? Buffer.from(hash, 'base64url') : undefined }
}
