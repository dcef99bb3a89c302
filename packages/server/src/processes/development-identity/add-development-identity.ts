import { randomBytes, type KeyObject } from 'node:crypto'
import { readPageText, type PageText } from '@atrium/web/page-text/page-text'
import { parseEmail } from '@atrium/identity/email'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#errors/api-error.ts'
import { StartError } from '#errors/start-error.ts'
import { isFromThisMachine } from '#http/from-this-machine.ts'
import { formOf, takeForms } from '#http/take-forms.ts'
import { AuthorizationCodes } from './authorization-codes.ts'
import { readAuthorizationRequest, type AuthorizationRequest } from './authorization-request.ts'
import { developmentIssuer, developmentPath, isPlainLoopback, type DevelopmentClient } from './development-issuer.ts'
import { renderAboutPage, renderProblemPage, renderSignInPage } from './sign-in-page.ts'
import { openIdTokenSigner } from './sign-id-token.ts'

export interface DevelopmentIdentityOptions {
  production: boolean
  /** Origin of the API: plain http on loopback. */
  publicUrl: string
  /** What people sign in for. A token of one client means nothing to another. */
  clients: DevelopmentClient[]
  /** RSA; see readDevelopmentKey. */
  signingKey: KeyObject
  now?: () => number
}

const maxFormBytes = 16 * 1024
const maxNameLength = 100

/**
 * An OpenID provider that accepts every e-mail address without a check, so that e-mail rooms and the console's
 * members work without any configuration. It is for development only: it answers only this computer and does not start in
 * production. Authorization code with PKCE, public client.
 */
export function addDevelopmentIdentity(app: FastifyInstance, options: DevelopmentIdentityOptions): void {
  const { production, publicUrl } = options
  if (production) throw new StartError('OIDC_ISSUER: the development sign-in accepts every address and is refused in production')
  if (!isPlainLoopback(publicUrl)) {
    throw new StartError(`ATRIUM_PUBLIC_URL must be plain http on loopback for the development sign-in, not ${publicUrl}`)
  }
  // In a separate context, so that the form parser applies to no other routes.
  void app.register((scope) => addRoutes(scope, options), { prefix: developmentPath })
}

async function addRoutes(app: FastifyInstance, options: DevelopmentIdentityOptions): Promise<void> {
  const { publicUrl, clients, signingKey, now = Date.now } = options
  const issuer = developmentIssuer(publicUrl)
  const redirectUris = clients.flatMap((client) => client.redirectUris)
  const origins = redirectUris.map((uri) => new URL(uri).origin)
  const codes = new AuthorizationCodes(now)
  const signer = await openIdTokenSigner(issuer, signingKey)
  const document = discoveryDocument(issuer)

  takeForms(app, maxFormBytes)
  app.addHook('onRequest', async (req, reply) => {
    // The same answer as for an unknown path, so that other computers cannot detect it.
    if (!isFromThisMachine(req)) throw new ApiError('not_found')
    allowOrigin(req, reply, origins)
    reply.header('cache-control', 'no-store')
  })

  const about = {
    appUrl: redirectUris[0] ?? publicUrl,
    discoveryUrl: `${issuer}/.well-known/openid-configuration`,
  }
  app.get('', async (_req, reply) => sendPage(reply, (text) => renderAboutPage(about, text)))
  app.get('/.well-known/openid-configuration', async () => document)
  app.get('/jwks', async () => signer.jwks)
  app.get(
    '/authorize',
    whenAsked((request, _req, reply) => signInPage(reply, request, { email: request.loginHint, name: '', rejected: false })),
  )
  app.post(
    '/authorize',
    whenAsked((request, req, reply) => {
      const form = formOf(req)
      const typed = { email: form.get('email') ?? '', name: cleanName(form.get('name') ?? '') }
      const email = parseEmail(typed.email)
      if (email === undefined) return signInPage(reply.code(400), request, { ...typed, rejected: true })
      const code = codes.issue({ ...request, email, name: typed.name || undefined })
      return reply.redirect(backTo(request, { code }), 303)
    }),
  )
  app.options('/token', async (_req, reply) =>
    reply.code(204).header('access-control-allow-methods', 'POST').header('access-control-allow-headers', 'Content-Type').send(),
  )
  app.post('/token', async (req, reply) => {
    const form = formOf(req)
    const get = (name: string) => form.get(name) ?? ''
    if (get('grant_type') !== 'authorization_code') return reply.code(400).send({ error: 'unsupported_grant_type' })
    const clientId = get('client_id')
    if (!clients.some((client) => client.clientId === clientId)) return reply.code(400).send({ error: 'invalid_client' })
    const redemption = { code: get('code'), clientId, redirectUri: get('redirect_uri'), verifier: get('code_verifier') }
    const grant = codes.redeem(redemption)
    if (!grant) return reply.code(400).send({ error: 'invalid_grant' })
    // OAuth requires an access token in the answer; this one grants nothing.
    const access = { access_token: randomBytes(32).toString('base64url'), token_type: 'Bearer', expires_in: 3600 }
    return reply.send({ ...access, scope: grant.scopes.join(' '), id_token: await signer.sign(grant, now()) })
  })

  /** Reads the authorization request, or answers what is wrong with it. */
  function whenAsked(answer: (request: AuthorizationRequest, req: FastifyRequest, reply: FastifyReply) => FastifyReply) {
    return async (req: FastifyRequest, reply: FastifyReply) => {
      const reading = readAuthorizationRequest(new URL(req.raw.url ?? '/', issuer).searchParams, clients)
      if (reading.kind === 'untrusted') return sendPage(reply.code(400), (text) => renderProblemPage(reading.problem, text))
      if (reading.kind === 'request') return answer(reading.request, req, reply)
      return reply.redirect(backTo(reading, { error: reading.error, error_description: reading.problem }), 303)
    }
  }

  function signInPage(
    reply: FastifyReply,
    request: AuthorizationRequest,
    typed: { email: string; name: string; rejected: boolean },
  ) {
    const cancelUrl = backTo(request, { error: 'access_denied', error_description: 'the person did not sign in' })
    const form = { ...typed, destination: new URL(request.redirectUri).origin, cancelUrl }
    return sendPage(reply, (text) => renderSignInPage(form, text))
  }

  /** `iss` (RFC 9207) identifies the issuer to the client. */
  function backTo(
    { redirectUri, state }: { redirectUri: string; state: string | undefined },
    answer: Record<string, string>,
  ): string {
    const params = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: issuer })
    return `${redirectUri}?${params.toString()}`
  }
}

/** Reduces the text to one line of at most the length of a name. */
function cleanName(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  return [...line].slice(0, maxNameLength).join('')
}

function allowOrigin(req: FastifyRequest, reply: FastifyReply, origins: string[]): void {
  const { origin } = req.headers
  reply.header('vary', 'origin')
  if (origin !== undefined && origins.includes(origin)) reply.header('access-control-allow-origin', origin)
}

/** In the language that the browser prefers. */
function sendPage(reply: FastifyReply, page: (text: PageText) => { html: string; csp: string }): FastifyReply {
  const text = readPageText(reply.request.headers['accept-language'])
  const { html, csp } = page(text)
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', csp)
    .header('content-language', text.language)
    .header('vary', 'Origin, Accept-Language')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
    .send(html)
}

/** OpenID Connect Discovery §3. */
function discoveryDocument(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    scopes_supported: ['openid', 'email', 'profile'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['sub', 'email', 'email_verified', 'name'],
    authorization_response_iss_parameter_supported: true,
    request_uri_parameter_supported: false,
  }
}
