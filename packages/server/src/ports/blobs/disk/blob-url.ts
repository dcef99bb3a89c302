import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto'

/** The permission in a signed URL. Every field is signed. */
export interface UploadGrant {
  key: string
  mime: string
  bytes: number
  sha256: string | undefined
  /** Unix time in seconds. */
  expires: number
}

export type GrantRefusal = 'bad_signature' | 'expired'

/** A key object: Node would convert a key in bytes at every call. */
export function deriveBlobUrlKey(masterKey: Buffer): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), 'atrium/blobs/url/v1', 32)))
}

/** `<key>?mime=…&expires=…&signature=…` */
export function signUploadPath(urlKey: KeyObject, grant: UploadGrant): string {
  const query = new URLSearchParams({ mime: grant.mime, bytes: String(grant.bytes) })
  if (grant.sha256) query.set('sha256', grant.sha256)
  query.set('expires', String(grant.expires))
  query.set('signature', mac(urlKey, grant).toString('base64url'))
  return `${grant.key}?${query}`
}

/** The grant of a URL, if its signature is valid and it has not expired. */
export function readUploadGrant(
  urlKeys: readonly KeyObject[],
  key: string,
  query: Record<string, unknown>,
): UploadGrant | GrantRefusal {
  const text = (name: string) => (typeof query[name] === 'string' ? query[name] : '')
  const grant: UploadGrant = {
    key,
    mime: text('mime'),
    bytes: Number(text('bytes')),
    sha256: text('sha256') || undefined,
    expires: Number(text('expires')),
  }
  const signature = Buffer.from(text('signature'), 'base64url')
  // timingSafeEqual throws on unequal lengths. Canonical base64url only, because Node's decoder accepts other forms.
  if (signature.length !== 32 || signature.toString('base64url') !== text('signature')) return 'bad_signature'
  if (!urlKeys.some((urlKey) => timingSafeEqual(signature, mac(urlKey, grant)))) return 'bad_signature'
  return grant.expires > Date.now() / 1_000 ? grant : 'expired'
}

/** JSON of the parts: no two grants share the bytes. The method is one of them, as in the URLs of earlier releases. */
function mac(urlKey: KeyObject, { key, mime, bytes, sha256, expires }: UploadGrant): Buffer {
  const parts = ['PUT', key, mime, bytes, sha256 ?? null, expires]
  return createHmac('sha256', urlKey).update(JSON.stringify(parts)).digest()
}
