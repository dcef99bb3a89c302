import { invalid } from '#errors/api-error.ts'

const maxLength = 2_000

/**
 * The address to which a buyer's browser returns. Plain http is allowed for every host, because only the browser
 * requests it. The host is limited to what a Content-Security-Policy can name: a URL's host may contain a semicolon or
 * a comma.
 */
export function returnAddress(text: string, path: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw invalid(path, 'must be an address that starts with https:// or http://')
  if (url.username !== '' || url.password !== '') throw invalid(path, 'may not contain a user name or password')
  if (!/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(url.hostname)) throw invalid(path, 'has a host name that is not valid')
  if (url.href.length > maxLength) throw invalid(path, `may have at most ${maxLength} characters, as a browser would send it`)
  return url.href
}

/** Adds the checkout's id to the query, and keeps the rest of the address. */
export function withCheckoutId(address: string, checkoutId: string): string {
  const url = new URL(address)
  url.search += `${url.search === '' ? '?' : '&'}checkout_id=${checkoutId}`
  return url.href
}

/** The address in a form-action policy: its origin, or its scheme for an IPv6 literal, which a policy cannot name. */
export function formTarget(address: string): string {
  const { origin, protocol, hostname } = new URL(address)
  return hostname.startsWith('[') ? protocol : origin
}
