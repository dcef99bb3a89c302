import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { agreeKey, type EcPublicKey } from './web-recipient.ts'
import type { WebCryptoKey } from './web-crypto-key.ts'

const curve = { name: 'ECDH', namedCurve: 'P-256' }
/** ECDH-ES without a wrapped key: the derived key is the content key, named by its `enc` (RFC 7518, 4.6.2). */
const enc = 'A256GCM'
const tagBytes = 16
const compactForm = /^([\w-]+)\.\.([\w-]{16})\.([\w-]+)\.([\w-]{22})$/

/** Seals a text to a public key: a compact JWE (RFC 7516) with `"alg":"ECDH-ES"`. `kid` names the key. */
export async function sealToKey(key: EcPublicKey, kid: string, text: string): Promise<string> {
  const pair = await crypto.subtle.generateKey(curve, true, ['deriveBits'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const header = { alg: 'ECDH-ES', enc, kid, epk: { kty: 'EC', crv: 'P-256', x, y } }
  const encoded = encodeBase64url(new TextEncoder().encode(JSON.stringify(header)))
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const contentKey = await importContentKey(await agreeKey(pair.privateKey, key, enc), 'encrypt')
  const how = { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(encoded) }
  const sealed = new Uint8Array(await crypto.subtle.encrypt(how, contentKey, new TextEncoder().encode(text)))
  const parts = [iv, sealed.subarray(0, -tagBytes), sealed.subarray(-tagBytes)].map(encodeBase64url)
  return `${encoded}..${parts.join('.')}`
}

/** The text; undefined: it is no such JWE, or was sealed to another key. `privateKey`: ECDH, with the usage deriveBits. */
export async function openSealedToKey(privateKey: WebCryptoKey, jwe: string): Promise<string | undefined> {
  const [, encoded = '', iv = '', ciphertext = '', tag = ''] = compactForm.exec(jwe) ?? []
  try {
    const header = JSON.parse(new TextDecoder().decode(decodeBase64url(encoded))) as {
      alg?: unknown
      enc?: unknown
      epk: EcPublicKey
    }
    if (header.alg !== 'ECDH-ES' || header.enc !== enc) return undefined
    const contentKey = await importContentKey(await agreeKey(privateKey, header.epk, enc), 'decrypt')
    const how = { name: 'AES-GCM', iv: decodeBase64url(iv), additionalData: new TextEncoder().encode(encoded) }
    const sealed = Uint8Array.from([...decodeBase64url(ciphertext), ...decodeBase64url(tag)])
    return new TextDecoder().decode(await crypto.subtle.decrypt(how, contentKey, sealed))
  } catch {
    return undefined
  }
}

function importContentKey(key: ArrayBuffer, use: 'encrypt' | 'decrypt'): Promise<WebCryptoKey> {
  return crypto.subtle.importKey('raw', key, 'AES-GCM', false, [use])
}
