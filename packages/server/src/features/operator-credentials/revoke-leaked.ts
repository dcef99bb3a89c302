import type { Tx } from '#db/database.ts'
import type { AuditOrigin } from '#features/audit-log/audit-entry.ts'
import { recordAudit } from '#features/audit-log/record-audit.ts'
import { findByTokenHash, listActiveForUpdate, revokeCredential } from './credential-store.ts'

/**
 * Revokes the credential whose token was found in public, and records it. The last active one stays if the bootstrap
 * token is off, because nobody could make another. undefined: there is no such credential.
 */
export async function revokeLeakedCredential(
  tx: Tx,
  audit: AuditOrigin,
  tokenHash: Buffer,
  bootstrapToken: boolean,
): Promise<{ id: string; isRevoked: boolean } | undefined> {
  const found = await findByTokenHash(tx, tokenHash)
  if (!found) return undefined
  const active = await listActiveForUpdate(tx)
  const isActive = active.some(({ id }) => id === found.id)
  if (!isActive) return { id: found.id, isRevoked: true }
  if (!bootstrapToken && active.length === 1) return { id: found.id, isRevoked: false }
  await revokeCredential(tx, found.id)
  await recordAudit(tx, { ...audit, params: { credentialId: found.id } })
  return { id: found.id, isRevoked: true }
}
