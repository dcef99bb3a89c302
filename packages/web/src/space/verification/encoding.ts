import { decodeBase64url, encodeBase64url } from '@atrium/sealing/base64url'

/** Decodes base64 in either alphabet, padded or not: certificates have base64, JOSE has base64url. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const url = text
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/(?<!=)=+$/, '')
  if (/[^A-Za-z0-9_-]/.test(url)) throw new TypeError('not base64')
  return decodeBase64url(url)
}

export function encodeBase64(bytes: Uint8Array): string {
  const text = encodeBase64url(bytes).replaceAll('-', '+').replaceAll('_', '/')
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=')
}

export async function sha256(bytes: BufferSource): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

export function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
