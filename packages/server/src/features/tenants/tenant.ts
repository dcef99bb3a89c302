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

/** The tenant as the API returns it. */
export function tenantView({ id, name, roles, status, createdAt }: Tenant) {
  return { id, name, roles, status, created_at: createdAt }
}
