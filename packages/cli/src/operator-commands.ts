import { callOperator } from './operator-api.ts'

interface NewTenant {
  name: string
  email?: string
  role?: string[]
}

export async function createTenant({ name, email, role }: NewTenant): Promise<void> {
  print(await callOperator('/tenants', { name, ...(email ? { email } : {}), ...(role ? { roles: role } : {}) }))
}

export async function setTenantStatus(id: string, status: 'active' | 'suspended'): Promise<void> {
  print(await callOperator(`/tenants/${encodeURIComponent(id)}/status`, { status }))
}

export async function createInvite({ uses, expiresAt }: { uses: number; expiresAt?: string }): Promise<void> {
  print(await callOperator('/tenants/invites', { uses, ...(expiresAt ? { expires_at: new Date(expiresAt).toISOString() } : {}) }))
}

function print(data: unknown): void {
  console.log(JSON.stringify(data, null, 2))
}
