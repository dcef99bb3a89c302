interface PublicKey {
  kty: 'RSA'
  n: string
  e: string
}

const privateFields = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/**
 * The fields of a public RSA key that are sent, or what is wrong with the text. A private key is refused here, so that it
 * does not leave the browser.
 */
export function parsePublicJwk(text: string): PublicKey | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'This is not JSON.'
  }
  if (typeof value !== 'object' || value === null) return 'This is not a JWK.'
  const { kty, n, e } = value as Record<string, unknown>
  if (privateFields.some((field) => field in value)) return 'This has a private key. Paste the public one: kty, n and e alone.'
  if (kty !== 'RSA' || typeof n !== 'string' || typeof e !== 'string') return 'This is not an RSA key with kty, n and e.'
  return { kty, n, e }
}
