import { decodeBase64url, encodeBase64url, isBase64url } from '@atrium/sealing/base64url'
import { utf8Text } from '@atrium/sealing/client-sealed'
import type { DevicePublicKey, Sign } from './identity.ts'
import { parseJson } from './parse-json.ts'

/** A compact JWS (ES256, RFC 7515) by a device key. `typ` keeps each use of the key apart from all others. */
export async function signJws(
  header: { readonly typ: string; readonly [member: string]: unknown },
  payload: object,
  sign: Sign,
): Promise<string> {
  const part = (value: object) => encodeBase64url(utf8(JSON.stringify(value)))
  const signed = `${part({ alg: 'ES256', ...header })}.${part(payload)}`
  return `${signed}.${encodeBase64url(await sign(utf8(signed)))}`
}

interface ParsedJws {
  readonly header: Readonly<Record<string, unknown>>
  readonly payload: Readonly<Record<string, unknown>>
}

/** Header and payload, of which nothing has been verified; undefined: it is no such JWS. */
export function parseJws(jws: string, typ: string): ParsedJws | undefined {
  const [head = '', payload = '', signature = '', ...more] = jws.split('.')
  if (more.length > 0 || ![head, payload, signature].every((part) => part !== '' && isBase64url(part))) return undefined
  const parsed = { header: readObject(head), payload: readObject(payload) }
  const { header } = parsed
  if (!header || !parsed.payload || header['alg'] !== 'ES256' || header['typ'] !== typ) return undefined
  // Extensions that this reader does not have.
  if ('crit' in header || 'b64' in header) return undefined
  return { header, payload: parsed.payload }
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** Imported keys: an author writes many lines, and an import takes about as long as a verification. */
const imported = new WeakMap<DevicePublicKey, ReturnType<typeof importKey>>()

function importKey({ kty, crv, x, y }: DevicePublicKey) {
  return crypto.subtle.importKey('jwk', { kty, crv, x, y }, algorithm, false, ['verify'])
}

/** Whether this key has signed it. */
export async function isSignedBy(jws: string, key: DevicePublicKey): Promise<boolean> {
  const end = jws.lastIndexOf('.')
  const signature = decodeBase64url(jws.slice(end + 1))
  const importing = imported.get(key) ?? importKey(key)
  imported.set(key, importing)
  try {
    return await crypto.subtle.verify(algorithm, await importing, signature, utf8(jws.slice(0, end)))
  } catch {
    // The point is not on the curve.
    return false
  }
}

function readObject(part: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(utf8Text(decodeBase64url(part)))
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined
}

// Made once, because of thousands of lines.
const encoder = new TextEncoder()

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}
