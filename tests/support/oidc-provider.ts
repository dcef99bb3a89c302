import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { text as readText } from 'node:stream/consumers'
import Provider from 'oidc-provider'
import { escapeHtml } from '../../packages/web/src/share/escape-html.ts'
import { freePort } from './atrium-process.ts'

export interface OidcProvider {
  issuer: string
  clientId: string
  close(): Promise<void>
}

export interface OidcProviderOptions {
  /** Origins that may also call the token endpoint. */
  redirectUris: string[]
  clientId?: string
  /** The claim about an e-mail address in ID tokens. Default: it is verified. */
  isVerified?: (email: string) => boolean
}

/**
 * A real OpenID provider on loopback (the npm package oidc-provider, certified by the OpenID Foundation) with one
 * public client and PKCE. Its login page has the fields `email` and `name` and a button, and accepts any identity.
 */
export async function startOidcProvider({
  redirectUris,
  clientId = 'atrium-test',
  isVerified = () => true,
}: OidcProviderOptions): Promise<OidcProvider> {
  const port = await freePort()
  const issuer = `http://localhost:${port}`
  const names = new Map<string, string>()
  const origins = new Set(redirectUris.map((uri) => new URL(uri).origin))
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        redirect_uris: redirectUris,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [signingKey()] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    // Claims are in the ID token itself, as with Google and most other providers. By default they are at the userinfo
    // endpoint.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    clientBasedCORS: (_ctx, origin) => origins.has(origin),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, email) => ({
      accountId: email,
      claims: async () => ({ sub: email, email, email_verified: isVerified(email), name: names.get(email) }),
    }),
    // The client belongs to the operator, so nobody is asked for consent.
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
    ttl: { Grant: 600, IdToken: 3600, Interaction: 600, Session: 600, AccessToken: 600 },
  })

  const answer = provider.callback()
  const server = createServer((req, res) => {
    if (!req.url?.startsWith('/interaction/')) return void answer(req, res)
    interact(req, res).catch((error: Error) => res.writeHead(500).end(error.message))
  })

  async function interact(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { params } = await provider.interactionDetails(req, res)
    if (req.method !== 'POST') {
      res.setHeader('content-type', 'text/html; charset=utf-8').end(loginPage(String(params['login_hint'] ?? '')))
      return
    }
    const form = new URLSearchParams(await readText(req))
    const email = form.get('email') ?? ''
    names.set(email, form.get('name') || email)
    await provider.interactionFinished(req, res, { login: { accountId: email } }, { mergeWithLastSubmission: false })
  }

  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve))
  return {
    issuer,
    clientId,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function signingKey(): object {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), kid: 'test-key', use: 'sig', alg: 'RS256' }
}

function loginPage(email: string): string {
  return `<!doctype html><html lang="en"><title>Sign in</title><link rel="icon" href="data:,"><main><h1>Sign in</h1>
<form method="post"><label>E-mail <input name="email" value="${escapeHtml(email)}"></label><label>Name <input name="name"></label>
<button>Sign in</button></form></main>`
}
