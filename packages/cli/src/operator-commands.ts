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

export async function moderateAgent(id: string, status: 'suspended' | 'pending' | 'lifted'): Promise<void> {
  print(await callOperator(`/operator/agents/${encodeURIComponent(id)}/status`, { status }))
}

export async function createInvite({ uses, expiresAt }: { uses: number; expiresAt?: string }): Promise<void> {
  print(await callOperator('/tenants/invites', { uses, ...(expiresAt ? { expires_at: new Date(expiresAt).toISOString() } : {}) }))
}

interface AuditReport {
  accounts: number
  transfers: number
  credits: number
  findings: { rule: string; subject: string; detail: string }[]
}

/** Proves the books: one line, or a line for each thing that is wrong and exit code 1. */
export async function audit(): Promise<void> {
  const { accounts, transfers, credits, findings } = await callOperator<AuditReport>('/operator/audit')
  for (const { rule, subject, detail } of findings) console.log(`✗ ${rule}: ${subject}: ${detail}`)
  const books = `${transfers} transfers between ${accounts} accounts, ${credits} credits in circulation`
  console.log(findings.length === 0 ? `✓ the books balance: ${books}` : `${findings.length} findings in ${books}`)
  if (findings.length > 0) process.exitCode = 1
}

function print(data: unknown): void {
  console.log(JSON.stringify(data, null, 2))
}
