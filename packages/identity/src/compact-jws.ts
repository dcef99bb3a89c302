import { decodeBase64url } from './base64url.ts'
import { type JsonObject, parseJsonObject } from '@atrium/contract/strict-json'

/**
 * A compact JWS (RFC 7515 §7.1) with a parsed header. The other parts stay encoded, because nothing has been verified
 * yet.
 */
export interface CompactJws {
  readonly header: JsonObject
  readonly payload: string
  readonly signature: string
  readonly signedText: string
}

/** Parses a compact JWS. Returns undefined if it is malformed, or if its header requires an unsupported feature. */
export function parseCompactJws(token: unknown, maxLength: number): CompactJws | undefined {
  if (typeof token !== 'string' || token.length > maxLength) return undefined
  const [head, payload, signature, ...more] = token.split('.', 4)
  if (!head || !payload || signature === undefined || more.length > 0) return undefined
  const header = decodeJsonPart(head)
  if (header === undefined || asksForExtensions(header)) return undefined
  return { header, payload, signature, signedText: `${head}.${payload}` }
}

/** One base64url part of a JWS as the JSON object in it. */
export function decodeJsonPart(part: string): JsonObject | undefined {
  const bytes = decodeBase64url(part)
  return bytes && parseJsonObject(bytes)
}

/**
 * `crit` names extensions that a reader must understand, and none is supported here; `b64` (RFC 7797) would change
 * what is signed.
 */
function asksForExtensions(header: JsonObject): boolean {
  return 'crit' in header || 'b64' in header
}
