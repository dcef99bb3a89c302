import { CompactEncrypt, importJWK, type JWK } from 'jose'
import { ApiError, invalid } from '../../http/api-error.ts'

type PublicJwk = Record<string, unknown>

/** Refuses a recipient that nothing could be sealed to. */
export async function assertRecipient(jwk: PublicJwk): Promise<void> {
  const supported =
    (jwk['kty'] === 'EC' && jwk['crv'] === 'P-256' && jwk['y'] !== undefined) ||
    (jwk['kty'] === 'OKP' && jwk['crv'] === 'X25519' && jwk['y'] === undefined)
  if (!supported) throw invalid('/box/recipient', 'must be an EC P-256 or an OKP X25519 key')
  try {
    await seal(jwk, '')
  } catch {
    throw invalid('/box/recipient', 'is not a valid public key')
  }
}

/** Seals an item to the box's recipient: a compact JWE (RFC 7516), ECDH-ES+A256KW with A256GCM. */
export async function sealToBox(
  jwk: PublicJwk,
  item: { type: string; content: unknown; author: string | null },
): Promise<string> {
  return seal(jwk, JSON.stringify(item))
}

async function seal(jwk: PublicJwk, text: string): Promise<string> {
  const key = await importJWK(publicPart(jwk), 'ECDH-ES+A256KW')
  const kid = jwk['kid']
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM', ...(typeof kid === 'string' ? { kid } : {}) })
    .encrypt(key)
}

function publicPart({ kty, crv, x, y }: PublicJwk): JWK {
  return { kty, crv, x, ...(y === undefined ? {} : { y }) } as JWK
}

const part = /^[A-Za-z0-9_-]*$/

/** An item that arrives sealed must be a compact JWE of the box's kind; what it holds nobody here can tell. */
export function assertSealed(content: unknown): string {
  const refuse = (message: string) =>
    new ApiError('invalid_request', { message: `/content: ${message}`, details: [{ path: '/content', message }] })
  if (typeof content !== 'string') throw refuse('must be a compact JWE')
  const parts = content.split('.')
  if (parts.length !== 5 || !parts.every((text) => part.test(text))) throw refuse('must be a compact JWE of five base64url parts')
  const header = parseHeader(parts[0]!)
  if (header?.['alg'] !== 'ECDH-ES+A256KW' || header['enc'] !== 'A256GCM')
    throw refuse('must be sealed with ECDH-ES+A256KW and A256GCM')
  return content
}

function parseHeader(text: string): Record<string, unknown> | undefined {
  try {
    const header: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return typeof header === 'object' && header !== null ? (header as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
