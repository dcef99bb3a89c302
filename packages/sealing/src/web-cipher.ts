type Bytes = Uint8Array<ArrayBuffer>

export interface WebGcmInput {
  readonly contentKey: WebCryptoKey
  readonly iv: Bytes
  readonly aad: Bytes
}

/** The result of A256GCM; Web Crypto appends the tag to the ciphertext. */
export interface WebEncrypted {
  readonly ciphertext: Bytes
  readonly tag: Bytes
}

const TAG_BYTES = 16

export function generateContentKey(): Promise<WebCryptoKey> {
  return crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt'])
}

/** AES key wrap (RFC 3394). */
export async function wrapKey(key: WebCryptoKey, contentKey: WebCryptoKey): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.wrapKey('raw', contentKey, key, 'AES-KW'))
}

/** Returns undefined if another key has wrapped it. */
export function unwrapKey(key: WebCryptoKey, wrapped: Bytes): Promise<WebCryptoKey | undefined> {
  return unlessRefused(crypto.subtle.unwrapKey('raw', wrapped, key, 'AES-KW', 'AES-GCM', false, ['decrypt']))
}

export async function encrypt({ contentKey, iv, aad }: WebGcmInput, content: Bytes): Promise<WebEncrypted> {
  const sealed = new Uint8Array(await crypto.subtle.encrypt(gcm(iv, aad), contentKey, content))
  const end = sealed.length - TAG_BYTES
  return { ciphertext: sealed.slice(0, end), tag: sealed.slice(end) }
}

/** Returns undefined if anything was altered. */
export async function decrypt({ contentKey, iv, aad }: WebGcmInput, { ciphertext, tag }: WebEncrypted) {
  const sealed = new Uint8Array(ciphertext.length + tag.length)
  sealed.set(ciphertext)
  sealed.set(tag, ciphertext.length)
  const content = await unlessRefused(crypto.subtle.decrypt(gcm(iv, aad), contentKey, sealed))
  return content && new Uint8Array(content)
}

function gcm(iv: Bytes, additionalData: Bytes) {
  return { name: 'AES-GCM', iv, additionalData, tagLength: TAG_BYTES * 8 }
}

/** OperationError means that decryption failed. Any other error is a bug or a fault of the browser and is thrown. */
async function unlessRefused<Value>(work: Promise<Value>): Promise<Value | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && error.name === 'OperationError') return undefined
    throw error
  }
}
import type { WebCryptoKey } from './web-crypto-key.ts'
