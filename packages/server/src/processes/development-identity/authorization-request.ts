import type { DevelopmentClient } from './development-issuer.ts'

/** A checked request for a sign-in (OpenID Connect Core §3.1.2.1, RFC 7636). */
export interface AuthorizationRequest {
  clientId: string
  redirectUri: string
  state: string | undefined
  nonce: string
  challenge: string
  scopes: string[]
  loginHint: string
}

export type Reading =
  | { kind: 'request'; request: AuthorizationRequest }
  /** The redirect address cannot be trusted, so the error is shown to the person only. */
  | { kind: 'untrusted'; problem: string }
  /** The error is sent to the client, at its redirect address (RFC 6749 §4.1.2.1). */
  | { kind: 'refused'; redirectUri: string; state: string | undefined; error: string; problem: string }

/** As strict as a real provider, so that a client that works here works there. */
export function readAuthorizationRequest(params: URLSearchParams, clients: DevelopmentClient[]): Reading {
  const get = (name: string) => params.get(name) ?? ''
  // With two addresses or two clients, the target of the answer would be ambiguous.
  const repeated = findRepeated(params)
  if (repeated !== undefined) return { kind: 'untrusted', problem: `The parameter ${repeated} was sent more than once.` }
  const client = clients.find(({ clientId }) => clientId === get('client_id'))
  if (!client) {
    const known = clients.map(({ clientId }) => clientId).join(' or ')
    return { kind: 'untrusted', problem: `client_id must be ${known}, not “${get('client_id')}”.` }
  }
  const redirectUri = get('redirect_uri')
  if (!client.redirectUris.includes(redirectUri)) {
    return { kind: 'untrusted', problem: `redirect_uri must be ${client.redirectUris.join(' or ')}, not “${redirectUri}”.` }
  }

  const state = params.get('state') ?? undefined
  const refusal = refusalOf(get)
  if (refusal) return { kind: 'refused', redirectUri, state, error: refusal[0], problem: refusal[1] }
  const request = {
    clientId: client.clientId,
    redirectUri,
    state,
    nonce: get('nonce'),
    challenge: get('code_challenge'),
    scopes: get('scope').split(' '),
    loginHint: get('login_hint'),
  }
  return { kind: 'request', request }
}

function findRepeated(params: URLSearchParams): string | undefined {
  const names = [...params.keys()]
  return names.find((name, n) => names.indexOf(name) !== n)
}

/** The error's code, and what to correct. */
function refusalOf(get: (name: string) => string): [string, string] | undefined {
  if (get('request') !== '') return ['request_not_supported', 'request is not supported']
  if (get('request_uri') !== '') return ['request_uri_not_supported', 'request_uri is not supported']
  if (get('response_type') !== 'code') return ['unsupported_response_type', 'response_type must be code']
  if (!['', 'query'].includes(get('response_mode'))) return ['invalid_request', 'response_mode must be query']
  if (!get('scope').split(' ').includes('openid')) return ['invalid_scope', 'scope must hold openid']
  if (get('code_challenge_method') !== 'S256') return ['invalid_request', 'code_challenge_method must be S256']
  if (!/^[\w-]{43}$/.test(get('code_challenge'))) return ['invalid_request', 'code_challenge must be the base64url of a SHA-256']
  if (!/^[\x21-\x7e]{1,255}$/.test(get('nonce'))) {
    return ['invalid_request', 'nonce is required: 1 to 255 printable ASCII characters']
  }
  // There are no sign-in sessions here, so prompt=none can never succeed.
  if (get('prompt').split(' ').includes('none')) return ['login_required', 'prompt may not be none']
  return undefined
}
