import { type Ed25519Seed, ed25519PublicKey } from '@atrium/log/signing'
import { randomBytes } from 'node:crypto'
import { makeVerifier, signatureTypes, type Verifier } from '@atrium/log/note'
import { calculateJwkThumbprint, type JWK } from '#libraries/jose.js'
import type { SealedRef } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import type { Db } from '#db/database.ts'
import { insertKey, isActive, listPublishedKeys, type NewKey } from '../platform-keys/store.ts'

/** The use of these keys among the platform's signing keys. */
export const logPurpose = 'transparency_log'

/** A key of the log, for as long as it signs. */
export interface LogKey {
  verifier: Verifier
  seed: Ed25519Seed
}

/** The verifier keys of the log: the active key first. A key that was retired stays for a day or, with `isKept`, for ever. */
export async function listLogVerifiers(db: Db, origin: string, isKept = false): Promise<Verifier[]> {
  const keys = await listPublishedKeys(db, logPurpose, isKept)
  return keys
    .toSorted((a, b) => Number(isActive(b)) - Number(isActive(a)))
    .map(({ publicJwk }) => makeVerifier(origin, signatureTypes.note, Buffer.from(publicJwk.x ?? '', 'base64url')))
}

/** The keys that sign a checkpoint; the first call makes one. A retired key signs for one more day, so that monitors can follow. */
export async function openLogKeys(db: Db, vault: Vault, origin: string): Promise<LogKey[]> {
  let keys = await listPublishedKeys(db, logPurpose, false)
  if (!keys.some(isActive)) {
    await insertKey(db, logPurpose, await makeLogKey(vault))
    keys = await listPublishedKeys(db, logPurpose, false)
  }
  const signing = keys.filter(({ status }) => status !== 'announced')
  return signing.map(({ id, publicJwk, privateSealed }) => ({
    verifier: makeVerifier(origin, signatureTypes.note, Buffer.from(publicJwk.x ?? '', 'base64url')),
    seed: vault.open(privateSealed, sealedRef(id)),
  }))
}

/** A new key with its private part sealed, which is not stored yet. */
export async function makeLogKey(vault: Vault): Promise<NewKey> {
  const seed = randomBytes(32)
  const jwk: JWK = { kty: 'OKP', crv: 'Ed25519', x: ed25519PublicKey(seed).toString('base64url') }
  const id = await calculateJwkThumbprint(jwk)
  const publicJwk = { ...jwk, use: 'sig', alg: 'EdDSA', kid: id }
  return { id, publicJwk, privateSealed: vault.seal(seed, sealedRef(id)) }
}

const sealedRef = (id: string): SealedRef => ({
  tenant: 'platform',
  table: 'platform_keys',
  column: 'private_sealed',
  row: `${logPurpose} ${id}`,
})
