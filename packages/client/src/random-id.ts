import { encodeBase64url } from '@atrium/sealing/base64url'

/** 128 random bits, 22 characters. Not crypto.randomUUID: a page that is not served securely does not have that. */
export function randomId(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(16)))
}
