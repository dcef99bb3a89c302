import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { type EcPublicJwk, thumbprint } from '@atrium/identity/thumbprint'
import type { SpaceBuild } from './space-build.ts'

export interface CertificateInput {
  readonly build: Pick<SpaceBuild, 'gitCommit' | 'functionCode' | 'sourceArchive'> & Partial<Pick<SpaceBuild, 'app'>>
  /** From `readSigningKey`. */
  readonly signingKey: KeyObject
  /** The name of the service in certificate and attestation. */
  readonly service: string
  /** Where the service may connect: the list for `openEgress`, and the database. */
  readonly egress: readonly string[]
}

/** The answer of `/cert.json`, for example: `sig` is over the bytes of `signed` as UTF-8, r‖s in base64url (RFC 7518 §3.4). */
interface SignedCertificate {
  readonly signed: string
  readonly sig: string
  readonly alg: 'ES256'
  readonly pubkey: EcPublicJwk
}

/** The answer to the op attest. `signed` and `sig` are present if the request has a nonce. */
interface Attestation {
  readonly service: string
  readonly gitCommit: string
  readonly runtime: string
  readonly signed?: string
  readonly sig?: string
}

export interface Certificate {
  readonly cert: SignedCertificate
  /** The answer of `/client.json`: the app in one file, which people open from their disks. */
  readonly client: SignedCertificate | undefined
  /** The RFC 7638 thumbprint of `cert.pubkey`, which people can pin. */
  readonly keyThumbprint: string
  attest(nonce?: string): Attestation
}

/** Certifies, with the signing key, which code runs here, from which source, and where it may connect. */
export function makeCertificate({ build, signingKey, service, egress }: CertificateInput): Certificate {
  const { gitCommit } = build
  const client = build.app?.find(({ path }) => /^\/space\/assets\/client-.+\.html$/.test(path))
  const functionCodeSha256 = sha256(build.functionCode)
  const sourceSha256 = sha256(build.sourceArchive)
  const runtime = `node ${process.versions.node} ${process.platform}-${process.arch}`
  // Each text has exactly these members. Only the attestation has a nonce, and only the client's a path. So one signed
  // text cannot pass for another.
  const signed = JSON.stringify({ v: 1, service, gitCommit, functionCodeSha256, egress, sourceSha256 })
  const pubkey = publicJwk(signingKey)
  const publish = (text: string) => ({ signed: text, sig: signEs256(signingKey, text), alg: 'ES256' as const, pubkey })
  return {
    cert: publish(signed),
    client: client && publish(JSON.stringify({ v: 1, service, gitCommit, path: client.path, sha256: sha256(client.body) })),
    keyThumbprint: thumbprint(pubkey),
    attest(nonce) {
      const answer = { service, gitCommit, runtime }
      if (nonce === undefined) return answer
      const at = new Date().toISOString()
      const statement = JSON.stringify({ v: 1, service, gitCommit, functionCodeSha256, runtime, nonce, at })
      return { ...answer, signed: statement, sig: signEs256(signingKey, statement) }
    },
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64')
}

function signEs256(key: KeyObject, text: string): string {
  return sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
}

function publicJwk(key: KeyObject): EcPublicJwk {
  const { x, y } = createPublicKey(key).export({ format: 'jwk' })
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1' || !x || !y) throw new TypeError('the signing key must be EC P-256')
  return { kty: 'EC', crv: 'P-256', x, y }
}
