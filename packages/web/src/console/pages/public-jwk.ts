interface PublicKey {
  kty: 'RSA'
  n: string
  e: string
}

interface EcPublicKey {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
}

const privateFields = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/**
 * The fields of a public RSA key that are sent, or what is wrong with the text. A private key is refused here, so that it
 * does not leave the browser.
 */
export function parsePublicJwk(text: string): PublicKey | string {
  const value = readPublic(text, 'kty, n and e')
  if (typeof value === 'string') return value
  const { kty, n, e } = value
  if (kty !== 'RSA' || typeof n !== 'string' || typeof e !== 'string') return 'This is not an RSA key with kty, n and e.'
  return { kty, n, e }
}

const COORDINATE = /^[\w-]{43}$/

/** As parsePublicJwk, of a key to which rooms are sealed: P-256. The server checks that it is a point of the curve. */
export function parseEncryptionJwk(text: string): EcPublicKey | string {
  const value = readPublic(text, 'kty, crv, x and y')
  if (typeof value === 'string') return value
  const { kty, crv, x, y } = value
  if (kty !== 'EC') return `This is not an EC key: kty is ${nameOf(kty)}. It must be a key of the curve P-256.`
  if (crv !== 'P-256') return `This key is of another curve: crv is ${nameOf(crv)}. It must be P-256.`
  if (typeof x !== 'string' || typeof y !== 'string' || !COORDINATE.test(x) || !COORDINATE.test(y))
    return 'x and y must have 43 characters of base64url each.'
  return { kty, crv, x, y }
}

/** The fields of a JWK without a private part, or what is wrong with the text. `needed`: the fields of the public key. */
function readPublic(text: string, needed: string): Readonly<Record<string, unknown>> | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'This is not JSON.'
  }
  if (typeof value !== 'object' || value === null) return 'This is not a JWK.'
  if (privateFields.some((field) => field in value)) return `This has a private key. Paste the public one: ${needed} alone.`
  return Object.fromEntries(Object.entries(value))
}

function nameOf(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value)
}
