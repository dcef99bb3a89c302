import { type AuditedOperation, isAuditedOperation } from '@atrium/contract/audit-words'
import { namesOf } from '@atrium/contract/names-of'
import { isId, idPrefixes } from '@atrium/contract/tokens'

/**
 * The actor. `id` is that of the operator's credential (`bootstrap`: the token of ATRIUM_ADMIN_TOKEN), of the member
 * or of the key.
 */
export interface AuditActor {
  kind: 'operator' | 'member' | 'key' | 'anyone' | 'system'
  id: string | null
  /** Only for operators, because the name of a key is text of the tenant. */
  name: string | null
}

/** The caller of an audited request, and the requested operation. The gateway makes it, and handlers pass it on. */
export interface AuditOrigin {
  actor: AuditActor
  /** The tenant of the caller's key. */
  tenantId: string | undefined
  operation: AuditedOperation
  params: Record<string, string>
  address: string
  requestId: string
}

export interface AuditEntry {
  id: string
  createdAt: string
  tenantId: string | null
  actor: AuditActor
  /** An AuditedOperation of the version that recorded it. */
  operation: string
  /** Ids and counts only. */
  targets: Record<string, string | number>
  outcome: 'done' | 'refused'
  code: string | null
  address: string | null
  requestId: string | null
}

/** The console has words for each operation that can be recorded. */
export interface NewAuditEntry extends Omit<AuditEntry, 'createdAt'> {
  operation: AuditedOperation
}

/** Throws if the contract has no words for the operation. A test checks that each one has words. */
export function auditedOperation(name: string): AuditedOperation {
  if (!isAuditedOperation(name)) throw new Error(`audit-words.ts has no words for ${name}`)
  return name
}

const kinds = namesOf(idPrefixes)

function isAnyId(value: unknown): value is string {
  return typeof value === 'string' && kinds.some((kind) => isId(kind, value))
}

/**
 * The targets of an action: the ids in its path and in its answer. Only values with the form of an id are recorded,
 * so that neither content nor a secret enters the log.
 */
export function targetsOf(params: Record<string, string>, data: unknown): Record<string, string> {
  const fields = typeof data === 'object' && data !== null ? data : {}
  const tenant = 'tenant' in fields ? fields.tenant : undefined
  const made = typeof tenant === 'object' && tenant !== null && 'id' in tenant ? { tenant_id: tenant.id } : {}
  const named = Object.entries({ ...fields, ...made, ...params })
  return Object.fromEntries(named.flatMap(([name, value]) => (isAnyId(value) ? [[name, value]] : [])))
}

/** The entry as the installation's operator sees it. */
export function operatorView(entry: AuditEntry) {
  const { id, createdAt, tenantId, actor, operation, targets, outcome, code, address, requestId } = entry
  return {
    id,
    created_at: createdAt,
    tenant_id: tenantId,
    actor,
    operation,
    targets,
    outcome,
    code,
    address,
    request_id: requestId,
  }
}

/** The entry as its tenant sees it. The name and address of an operator are left out. */
export function tenantView(entry: AuditEntry) {
  const { tenant_id: _, ...view } = operatorView(entry)
  if (entry.actor.kind !== 'operator') return view
  return { ...view, actor: { kind: entry.actor.kind, id: null, name: null }, address: null }
}
