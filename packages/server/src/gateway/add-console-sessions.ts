import { Type } from '@atrium/contract/type'
import { closed } from '@atrium/contract/schemas'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '#errors/api-error.ts'
import type { Context } from '#features/context.ts'
import { type ConsoleSession, cookieNames, readCookie } from '#features/console/session.ts'
import { listSessionsOf } from '#features/console/session-store.ts'
import { describeLink, holderOf, signInByLink, signOut } from '#features/console/sign-in.ts'
import { lazyCheck, parseBody, bodyOf } from '#http/parse.ts'
import { sendConsolePage } from './add-console.ts'
import { addAccountRoutes, canSignIn } from './add-console-accounts.ts'
import { browserOf, rememberInvitation, setCookies } from './console-cookies.ts'
import { assertCsrf, authenticateSession } from './authenticate-session.ts'
import { isCsrfOf } from '#features/console/session.ts'
import { limitReaders } from './limit-readers.ts'
import { unconfirmedError } from './refuse-unconfirmed.ts'
import { isOwnOrigin } from './own-origin.ts'

const checkSecret = lazyCheck(closed({ link_secret: Type.String({ minLength: 1, maxLength: 100 }) }))

/**
 * Adds the calls that sign in and out of the console. They are not operations of the API: only the console uses them,
 * with cookies.
 */
export function addConsoleSessions(app: FastifyInstance, ctx: Context): void {
  void app.register(async (scope) => {
    scope.addHook('onRequest', limitReaders(ctx, 'console'))
    scope.addHook('onRequest', async (_req, reply) => {
      reply.header('cache-control', 'no-store')
    })
    void scope.register(async (reads) => {
      // Somebody who types such an address, or reloads it, gets the page. Programs and the page itself get JSON.
      reads.addHook('onRequest', async (req, reply) => {
        reply.header('vary', 'sec-fetch-dest')
        if (req.method === 'GET' && req.headers['sec-fetch-dest'] === 'document') return sendConsolePage(req, reply)
        return undefined
      })
      addSessionRoutes(reads, ctx)
      reads.get('/console/sign-in', async (req, reply) => {
        const oidc = canSignIn(ctx.consoleIdentity, req)
        return reply.send({ data: { oidc, development: oidc && ctx.consoleIdentity?.isDevelopment === true } })
      })
    })
    // A separate limit: somebody who has used up the limit for reading links can still sign in.
    const onRequest = limitReaders(ctx, 'link')
    scope.post('/console/link', { onRequest }, async (req, reply) =>
      reply.send({ data: await describeLink(ctx.db, linkSecretOf(ctx, req)) }),
    )
    void scope.register(async (entry) => {
      entry.addHook('onRequest', limitReaders(ctx, 'signIn'))
      if (ctx.consoleIdentity) addAccountRoutes(entry, ctx, ctx.consoleIdentity)
      entry.post('/console/sign-in', async (req, reply) => {
        const secret = linkSecretOf(ctx, req)
        const cookies = await signInByLink(ctx, secret, browserOf(ctx, req))
        if (!cookies) {
          rememberInvitation(ctx, reply, secret)
          return reply.send({ data: { sign_in_at: '/console/oidc/start' } })
        }
        setCookies(ctx, reply, cookies)
        return reply.send({ data: sessionView(ctx, await authenticateSession(ctx, cookies.token), cookies.csrf) })
      })
    })
  })
}

function addSessionRoutes(scope: FastifyInstance, ctx: Context): void {
  scope.get('/console/session', async (req, reply) => {
    const session = await sessionOf(ctx, req)
    const csrf = readCookie(req.headers.cookie, cookieNames(ctx.config.consoleUrl).csrf)
    // The session cookie alone does not open the console.
    if (csrf === undefined || !isCsrfOf(session, csrf)) throw new ApiError('no_console_session')
    return reply.send({ data: sessionView(ctx, session, csrf) })
  })
  scope.get('/console/sessions', async (req, reply) => {
    const session = await provenSession(ctx, req)
    const all = await listSessionsOf(ctx.db, holderOf(session))
    const data = all.map(({ id, createdAt, lastUsedAt, expiresAt, address, userAgent }) => ({
      id,
      current: id === session.id,
      created_at: createdAt,
      last_used_at: lastUsedAt,
      expires_at: expiresAt,
      address,
      user_agent: userAgent,
    }))
    return reply.send({ data })
  })
  for (const everywhere of [false, true]) {
    scope.post(everywhere ? '/console/sign-out-everywhere' : '/console/sign-out', async (req, reply) => {
      await signOut(ctx, await provenSession(ctx, req), everywhere, browserOf(ctx, req))
      setCookies(ctx, reply, undefined)
      return reply.code(204).send()
    })
  }
}

/** The session of the request's cookie. */
async function sessionOf(ctx: Context, req: FastifyRequest): Promise<ConsoleSession> {
  if (ctx.restoreWindow.isUnconfirmed) throw unconfirmedError()
  const token = readCookie(req.headers.cookie, cookieNames(ctx.config.consoleUrl).session)
  if (token === undefined) throw new ApiError('no_console_session')
  return authenticateSession(ctx, token)
}

/** The session of a request that also proves that it comes from the console. */
async function provenSession(ctx: Context, req: FastifyRequest): Promise<ConsoleSession> {
  const session = await sessionOf(ctx, req)
  assertCsrf(session, req.headers)
  return session
}

function linkSecretOf(ctx: Context, req: FastifyRequest): string {
  assertOwnOrigin(ctx, req)
  const body = parseBody(bodyOf(req))
  checkSecret(body)
  return (body as { link_secret: string }).link_secret
}

/** A page of another site must not sign somebody in to an account that they do not know. */
function assertOwnOrigin(ctx: Context, req: FastifyRequest): void {
  if (!isOwnOrigin(ctx.config.consoleUrl, req.headers))
    throw new ApiError('csrf_required', { message: `The console is at ${ctx.config.consoleUrl}/console. Sign in there.` })
}

function sessionView({ config }: Context, { tenant, member, role, expiresAt }: ConsoleSession, csrf: string) {
  return {
    kind: tenant ? 'tenant' : 'operator',
    tenant: tenant ?? null,
    member: member ?? null,
    role: tenant ? role : null,
    csrf,
    expires_at: expiresAt,
    console_url: `${config.consoleUrl}/console`,
    development: !config.production && config.databaseUrl === undefined,
  }
}
