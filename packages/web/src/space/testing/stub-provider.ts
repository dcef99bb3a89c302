import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readBody } from './read-body.ts'

interface Grant {
  readonly email: string
  readonly nonce: string
  readonly challenge: string
  readonly redirectUri: string
}

const CLIENT_ID = 'space-app'

/** An OpenID provider that accepts any e-mail address: authorization code with PKCE, RS256. */
export async function startStubProvider() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' }
  const grants = new Map<string, Grant>()
  let extra: Record<string, unknown> = {}

  function idToken({ email, nonce }: Grant): string {
    const iat = Math.floor(Date.now() / 1000)
    const name = email.split('@')[0]!.replace(/^./, (first) => first.toUpperCase())
    const payload = {
      iss: issuer,
      aud: CLIENT_ID,
      sub: email,
      email,
      email_verified: true,
      name,
      nonce,
      iat,
      exp: iat + 3600,
      ...extra,
    }
    const text = [{ alg: 'RS256', typ: 'JWT', kid: 'k1' }, payload]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', issuer)
    res.setHeader('access-control-allow-origin', '*')
    const json = (status: number, body: unknown) =>
      void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (url.pathname === '/.well-known/openid-configuration') {
      const [authorization_endpoint, token_endpoint, jwks_uri] = ['/authorize', '/token', '/jwks'].map((path) => issuer + path)
      return json(200, { issuer: issuer, authorization_endpoint, token_endpoint, jwks_uri })
    }
    if (url.pathname === '/jwks') return json(200, { keys: [jwk] })
    if (url.pathname === '/authorize') return loginPage(res, url.searchParams)
    if (url.pathname === '/login') return login(res, new URLSearchParams(await readBody(req)))
    if (url.pathname === '/token') return token(json, new URLSearchParams(await readBody(req)))
    res.writeHead(404).end()
  }

  function login(res: ServerResponse, form: URLSearchParams): void {
    const back = new URL(form.get('redirect_uri')!)
    back.searchParams.set('state', form.get('state')!)
    const email = form.get('email')
    if (email) {
      const code = randomBytes(16).toString('base64url')
      const challenge = form.get('code_challenge')!
      grants.set(code, { email, nonce: form.get('nonce')!, challenge, redirectUri: form.get('redirect_uri')! })
      back.searchParams.set('code', code)
    } else {
      back.searchParams.set('error', 'access_denied')
    }
    res.writeHead(303, { location: back.href }).end()
  }

  function token(json: (status: number, body: unknown) => void, form: URLSearchParams): void {
    const grant = grants.get(form.get('code') ?? '')
    grants.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isGood = grant && challenge === grant.challenge && form.get('redirect_uri') === grant.redirectUri
    if (!isGood || form.get('client_id') !== CLIENT_ID) return json(400, { error: 'invalid_grant' })
    json(200, { id_token: idToken(grant), access_token: 'none', token_type: 'Bearer', expires_in: 60 })
  }

  const server = createServer((req, res) => {
    answer(req, res).catch(() => res.writeHead(500).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    clientId: CLIENT_ID,
    publicKey,
    /** Claims that are added to or replace the default ones. */
    claim(claims: Record<string, unknown>) {
      extra = claims
    },
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function loginPage(res: ServerResponse, query: URLSearchParams): void {
  const hidden = [...query].map(([name, value]) => `<input type=hidden name=${name} value="${encodeURI(value)}">`).join('')
  const page = `<!doctype html><title>Sign in</title><form method=post action=/login>${hidden}<input name=email><button>Go</button></form>`
  res.setHeader('content-type', 'text/html').end(page)
}
