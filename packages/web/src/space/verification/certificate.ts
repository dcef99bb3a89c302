import { type DevicePublicKey, thumbprintOf } from '@atrium/room-client/identity'
import { getServiceOrigin } from '../service.ts'
import { decodeBase64, utf8 } from './encoding.ts'

/** The fields of the service's published certificate that this page reads. */
export interface BuildFacts {
  readonly v: number
  readonly service: string
  readonly gitCommit: string
  readonly functionCodeSha256: string
  readonly sourceSha256: string
  readonly egress?: unknown
}

export interface Certificate {
  readonly facts: BuildFacts
  readonly publicKey: CryptoKey
  readonly thumbprint: string
  /** Verifies the signature over the exact published text. */
  readonly isSigned: boolean
}

interface CertificateFile {
  readonly signed: string
  readonly sig: string
  readonly alg: string
  readonly pubkey: DevicePublicKey
}

export async function fetchCertificate(): Promise<Certificate> {
  const { signed, sig, alg, pubkey } = (await fetchFresh('/cert.json').then((res) => res.json())) as CertificateFile
  const { kty, crv, x, y } = pubkey
  const publicKey = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, { name: 'ECDSA', namedCurve: 'P-256' }, false, [
    'verify',
  ])
  return {
    facts: JSON.parse(signed) as BuildFacts,
    publicKey,
    thumbprint: await thumbprintOf({ kty, crv, x, y }),
    isSigned: alg === 'ES256' && (await isSignatureOf(publicKey, signed, sig)),
  }
}

/** ES256: ECDSA P-256 over SHA-256, r‖s. */
export function isSignatureOf(publicKey: CryptoKey, signed: string, sig: string): Promise<boolean> {
  return crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, publicKey, decodeBase64(sig), utf8(signed))
}

/** The signal limits the time until the body has been read. */
export async function fetchFresh(path: string, signal = AbortSignal.timeout(15_000)): Promise<Response> {
  const res = await fetch(new URL(path, getServiceOrigin()), { cache: 'no-store', credentials: 'omit', signal })
  if (!res.ok) throw new Error(`${path}: ${res.status}`)
  return res
}
