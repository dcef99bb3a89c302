import { isJsonObject } from '@atrium/contract/strict-json'

/** Fetches and parses JSON. Does not follow redirects, limits the size, and rejects any status but 200. */
export type FetchJson = (url: string) => Promise<unknown>

/**
 * Throws unless `issuer` has the form of an issuer: https, or plain http on loopback; no query, fragment or password
 * (OpenID Discovery §3).
 */
export function assertIssuer(issuer: string): void {
  if (isIssuer(issuer)) return
  throw new Error(`Not an OpenID issuer: ${issuer} (https, or http on loopback, without query or fragment)`)
}

export function isIssuer(issuer: string): boolean {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  return url !== undefined && !url.search && !url.hash && !url.username && !url.password && isProtected(url)
}

/** The URL of the provider's JWK Set, from its discovery document (OpenID Discovery §4). */
export async function fetchJwkSet(issuer: string, fetchJson: FetchJson): Promise<unknown> {
  const document = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  // §4.3: the issuer must match exactly; otherwise one provider could publish keys for another.
  if (!isJsonObject(document) || document.issuer !== issuer) throw new Error(`Discovery does not speak for ${issuer}`)
  return fetchJson(checkKeySetUrl(document.jwks_uri, issuer))
}

function checkKeySetUrl(value: unknown, issuer: string): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  const isDowngrade = url?.protocol === 'http:' && issuer.startsWith('https:')
  if (!url || !isProtected(url) || isDowngrade) throw new Error(`Discovery of ${issuer} gives no safe jwks_uri`)
  return url.href
}

function isProtected(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

/** URL normalises every spelling of an IPv4 address to four decimal numbers. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
