import type { Database, Tx } from '#db/database.ts'
import { newId } from '#crypto/random.ts'
import { type AuditOrigin, type NewAuditEntry, targetsOf } from './audit-entry.ts'
import { hasOldAuditEntries, insertAuditEntry, removeOldAuditEntries } from './audit-log-store.ts'

/**
 * Records an action in the transaction of its change. `data` is the answer; only its ids are stored. The gateway
 * calls this for handlers of the kind `write`; any other handler of an audited operation calls it itself.
 */
export async function recordAudit(tx: Tx, origin: AuditOrigin | undefined, data?: unknown): Promise<void> {
  if (origin) await insertAuditEntry(tx, entryOf(origin, data, null))
}

/** Records an action that was rejected and changed nothing. */
export async function recordRefusal(db: Pick<Database, 'transaction'>, origin: AuditOrigin, code: string): Promise<void> {
  const entry = entryOf(origin, undefined, code)
  await db.transaction((tx) => insertAuditEntry(tx, entry))
}

function entryOf(origin: AuditOrigin, data: unknown, code: string | null): NewAuditEntry {
  const { actor, operation, params, address, requestId } = origin
  const targets = targetsOf(params, data)
  return {
    id: newId('auditEntry'),
    tenantId: origin.tenantId ?? targets['tenant_id'] ?? null,
    actor,
    operation,
    targets,
    outcome: code === null ? 'done' : 'refused',
    code,
    address,
    requestId,
  }
}

/** Removes up to 10,000 entries that are older than the retention, and records it. Returns how many. */
export async function removeOldEntries(db: Database, days: number): Promise<number> {
  return (await hasOldAuditEntries(db, days)) ? removeOldAuditEntries(db, newId('auditEntry'), days) : 0
}
