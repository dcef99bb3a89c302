import { canonicalJson } from './proof.ts'

/** A request to a room whose lines the clients seal. */
export interface SignedRequest {
  readonly op: string
  readonly room: string
  /** Compact JWS (EdDSA, RFC 8037) by the room's access key. */
  readonly signature: string
}

/** The `typ` of its header, so that no other signature by the same key passes for one of a request. */
export const SIGNATURE_TYPE = 'atrium-room+jws'

/** The bytes whose SHA-256 (base64url) is signed: the other members as canonical JSON (RFC 8785), in UTF-8. */
export function signedContent({ op: _op, room: _room, signature: _signature, ...rest }: SignedRequest): string {
  return canonicalJson(rest)
}

/** What is signed, in the order of its members. `audience`: the origin of the service. */
export function signaturePayload(
  { op, room }: Pick<SignedRequest, 'op' | 'room'>,
  { audience, sha256, nowMs = Date.now() }: { audience: string; sha256: string; nowMs?: number },
): string {
  return JSON.stringify({ aud: audience, htm: 'POST', op, room, iat: Math.floor(nowMs / 1_000), sha256 })
}

/**
 * The stored line: the client's JWE (flattened JSON, RFC 7516 §7.2.2) with its place in the chain as the unprotected
 * header. The hash of the line covers the place.
 */
export function placeLine(line: string, { seq, prev }: { seq: number; prev?: string | undefined }): string {
  // The protected header is the first member, and base64url has no comma.
  const at = line.indexOf(',')
  const place = JSON.stringify({ seq, ...(prev === undefined ? {} : { prev }) })
  return `${line.slice(0, at)},"unprotected":${place}${line.slice(at)}`
}
