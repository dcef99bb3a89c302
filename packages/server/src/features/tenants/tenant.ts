import type { Role } from '../keys/role.ts'

export interface Tenant {
  id: string
  name: string
  email: string | null
  /** Never empty: none recorded means both. */
  roles: Role[]
  status: 'active' | 'suspended'
  createdAt: string
}

/** What the tenant is called that is made to try things with. */
export const developmentName = 'Development'

export function tenantView({ id, name, roles, status, createdAt }: Tenant) {
  return { id, name, roles, status, created_at: createdAt }
}
