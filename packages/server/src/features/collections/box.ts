import { parseJsonObject } from '@atrium/contract/strict-json'
import { ApiError } from '#errors/api-error.ts'
import { sealTo, type RecipientJwk } from '#crypto/jwe.ts'

/** Seals an item to the recipient of the box. */
export function sealToBox(jwk: RecipientJwk, item: { type: string; content: unknown; author: string | null }): Promise<string> {
  return sealTo(jwk, JSON.stringify(item))
}

const base64url = /^[A-Za-z0-9_-]*$/

/**
 * Throws unless the content is a compact JWE with the algorithms of a box. The server cannot read what it contains.
 */
export function assertSealed(content: unknown): string {
  const refuse = (message: string) =>
    new ApiError('invalid_request', { message: `/content: ${message}`, details: [{ path: '/content', message }] })
  if (typeof content !== 'string') throw refuse('must be a compact JWE')
  const parts = content.split('.')
  const [head] = parts
  if (head === undefined || parts.length !== 5 || !parts.every((text) => base64url.test(text)))
    throw refuse('must be a compact JWE of five base64url parts')
  const header = parseJsonObject(Buffer.from(head, 'base64url'))
  if (header?.['alg'] !== 'ECDH-ES+A256KW' || header['enc'] !== 'A256GCM')
    throw refuse('must be sealed with ECDH-ES+A256KW and A256GCM')
  return content
}
