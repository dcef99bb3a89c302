import { idPrefixes } from '@atrium/contract/tokens'
import type { Role } from '../keys/key.ts'

export interface Tenant {
  id: string
  name: string
  email: string | null
  /** Never empty: see rolesHeld. */
  roles: Role[]
  status: 'active' | 'suspended'
  createdAt: string
}

/** The name of the tenant that a development installation starts with. */
export const developmentName = 'Development'

/**
 * The tenant of the keys with which processes measure how fast a revocation works. It belongs to the installation: no
 * operation finds, lists or counts it.
 */
export const systemTenantId = `${idPrefixes.tenant}${'0'.repeat(22)}`

export interface DeletionTimes {
  startedAt: string | null
  finishedAt: string | null
}

export function deletionState({ startedAt, finishedAt }: DeletionTimes): 'scheduled' | 'running' | 'done' {
  if (finishedAt !== null) return 'done'
  return startedAt === null ? 'scheduled' : 'running'
}

/** The tenant as the API returns it. */
export function tenantView({ id, name, roles, status, createdAt }: Tenant) {
  return { id, name, roles, status, created_at: createdAt }
}
