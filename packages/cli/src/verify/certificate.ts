import { createHash } from 'node:crypto'
import { type DeviceKey, parseDeviceKey } from '@atrium/identity/device-key'
import { isEs256Signature } from '@atrium/identity/signature'
import { parseJsonObject } from '@atrium/contract/strict-json'
import { CheckFailed } from './report.ts'

/** The contents of a certificate whose signature is valid. */
export interface VerifiedCertificate {
  readonly key: DeviceKey
  readonly service: string
  readonly gitCommit: string
  readonly functionCodeSha256: string
  readonly egress: readonly string[]
  readonly sourceSha256: string
}

const MEMBERS = ['v', 'service', 'gitCommit', 'functionCodeSha256', 'egress', 'sourceSha256']

/** Checks the answer of `/cert.json`: the signature over the exact text, then the text itself. */
export function readCertificate(answer: Record<string, unknown>): VerifiedCertificate {
  const { signed, sig, alg, pubkey } = answer
  const key = parseDeviceKey(pubkey)
  if (alg !== 'ES256') throw new CheckFailed('it is not signed with ES256')
  if (!key) throw new CheckFailed('its pubkey is not the public part of an EC P-256 key')
  if (typeof signed !== 'string' || typeof sig !== 'string') throw new CheckFailed('it lacks signed or sig')
  if (!isEs256Signature(key.publicKey, signed, sig)) throw new CheckFailed('the signature is not by its key over this text')
  const said = readSigned(signed, MEMBERS)
  const { service, gitCommit, functionCodeSha256, egress, sourceSha256 } = said
  if (typeof service !== 'string' || typeof gitCommit !== 'string') throw new CheckFailed('service and gitCommit must be text')
  if (!isSha256(functionCodeSha256) || !isSha256(sourceSha256)) throw new CheckFailed('its hashes must be SHA-256 as base64')
  if (!Array.isArray(egress) || !egress.every(isPlace)) throw new CheckFailed('its egress must be a list of places')
  return { key, service, gitCommit, functionCodeSha256, egress, sourceSha256 }
}

export class SignedByAnotherKey extends CheckFailed {
  constructor(explanation = '') {
    super(`the signature is not by the certificate's key${explanation}`)
  }
}

const ATTEST_MEMBERS = ['v', 'service', 'gitCommit', 'functionCodeSha256', 'runtime', 'nonce', 'at']

/**
 * Checks the answer to attest with `nonce`: signed just now, by the certificate's key, about the certificate's build.
 */
export function checkAttestation(answer: Record<string, unknown>, certificate: VerifiedCertificate, nonce: string): string {
  const { signed, sig, service, gitCommit, runtime } = answer
  if (service !== certificate.service) throw new CheckFailed('it names another service than the certificate')
  if (gitCommit !== certificate.gitCommit) throw new CheckFailed('it names another commit than the certificate')
  if (typeof signed !== 'string' || typeof sig !== 'string') throw new CheckFailed('it is not signed, although a nonce was sent')
  if (!isEs256Signature(certificate.key.publicKey, signed, sig)) throw new SignedByAnotherKey()
  const said = readSigned(signed, ATTEST_MEMBERS)
  if (said['nonce'] !== nonce) throw new CheckFailed('it is signed over another nonce: an old answer')
  const isSame = said['service'] === service && said['gitCommit'] === gitCommit && said['runtime'] === runtime
  if (!isSame || said['functionCodeSha256'] !== certificate.functionCodeSha256) {
    throw new CheckFailed('the signed text differs from the certificate or from the answer')
  }
  if (typeof runtime !== 'string') throw new CheckFailed('it does not name its runtime')
  return runtime
}

/** Parses a signed text. A text with other members was signed for another purpose. */
export function readSigned(signed: string, members: readonly string[]): Readonly<Record<string, unknown>> {
  const said = parseJsonObject(signed)
  if (!said || Object.keys(said).join() !== members.join())
    throw new CheckFailed(`the signed text must contain ${members.join(', ')}`)
  if (said['v'] !== 1) throw new CheckFailed('the version of the signed text is not supported')
  return said
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64')
}

/** An origin, or a name such as postgres, without spaces, so that a list of places is unambiguous. */
function isPlace(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x2b\x2d-\x7e]{1,300}$/.test(value)
}

function isSha256(value: unknown): value is string {
  return typeof value === 'string' && Buffer.from(value, 'base64').length === 32 && /^[A-Za-z0-9+/]{43}=$/.test(value)
}
