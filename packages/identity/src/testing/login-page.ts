import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LoginPage {
  readonly origin: string
  readonly redirectUri: string
  close(): void
}

/** What `finish()` gives in the page. */
export interface BrowserLogin {
  readonly idToken: string
  /** The public part of the device key, as JSON. */
  readonly spk: string
  readonly state: string
}

/**
 * For tests: a page that signs in at an OpenID provider as the Space app does, with nothing but the browser:
 * authorization code with PKCE, the nonce being the thumbprint of a device key made by Web Crypto. In it,
 * `begin(issuer, clientId, changes?)` gives the provider's address to go to, with parameters added or replaced; back
 * at redirectUri, `finish()` gives a BrowserLogin.
 */
export async function startLoginPage(): Promise<LoginPage> {
  const server = createServer((_req, res) => {
    res.setHeader('content-type', 'text/html; charset=utf-8').end(html)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    redirectUri: `${origin}/space`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const html = `<!doctype html><html lang="en"><title>A client of the test</title><link rel="icon" href="data:,"><script>
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const sha256 = async (text) => base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)))
const redirectUri = location.origin + '/space'
const getJson = async (url) => (await fetch(url)).json()

async function begin(issuer, clientId, changes = {}) {
  const { authorization_endpoint, token_endpoint } = await getJson(issuer + '/.well-known/openid-configuration')
  const { publicKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  const kept = { clientId, token_endpoint, spk: JSON.stringify({ kty, crv, x, y }), verifier: random(), state: random() }
  sessionStorage.setItem('login', JSON.stringify(kept))
  const params = {
    response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope: 'openid email profile', state: kept.state,
    nonce: await sha256(JSON.stringify({ crv, kty, x, y })),
    code_challenge: await sha256(kept.verifier), code_challenge_method: 'S256', ...changes,
  }
  return authorization_endpoint + '?' + new URLSearchParams(params)
}

async function finish() {
  const answer = new URLSearchParams(location.search)
  const { clientId, token_endpoint, spk, verifier, state } = JSON.parse(sessionStorage.getItem('login'))
  if (answer.get('state') !== state) throw new Error('another state')
  if (!answer.has('code')) throw new Error(answer.get('error') + ': ' + answer.get('error_description'))
  const body = new URLSearchParams({
    grant_type: 'authorization_code', client_id: clientId, redirect_uri: redirectUri, code: answer.get('code'), code_verifier: verifier,
  })
  const token = await (await fetch(token_endpoint, { method: 'POST', body })).json()
  if (!token.id_token) throw new Error(JSON.stringify(token))
  return { idToken: token.id_token, spk, state }
}
</script>`
