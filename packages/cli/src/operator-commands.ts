import { callOperator } from './operator-api.ts'

interface NewTenant {
  name: string
  email?: string
  role?: string[]
}

export async function createTenant({ name, email, role }: NewTenant): Promise<void> {
  print(await callOperator('POST /tenants', { name, ...(email ? { email } : {}), ...(role ? { roles: role } : {}) }))
}

export async function setTenantStatus(id: string, status: 'active' | 'suspended'): Promise<void> {
  print(await callOperator(`POST /tenants/${encodeURIComponent(id)}/status`, { status }))
}

export async function moderateAgent(id: string, status: 'suspended' | 'pending' | 'lifted'): Promise<void> {
  print(await callOperator(`POST /operator/agents/${encodeURIComponent(id)}/status`, { status }))
}

export async function createInvite({ uses, expiresAt }: { uses: number; expiresAt?: string }): Promise<void> {
  print(
    await callOperator('POST /tenants/invites', {
      uses,
      ...(expiresAt ? { expires_at: new Date(expiresAt).toISOString() } : {}),
    }),
  )
}

interface AuditReport {
  accounts: number
  transfers: number
  credits: number
  findings: { rule: string; subject: string; detail: string }[]
}

/** Proves the books: one line, or a line for each thing that is wrong and exit code 1. */
export async function audit(): Promise<void> {
  const { accounts, transfers, credits, findings } = await callOperator<AuditReport>('GET /operator/audit')
  for (const { rule, subject, detail } of findings) console.log(`✗ ${rule}: ${subject}: ${detail}`)
  const books = `${transfers} transfers between ${accounts} accounts, ${credits} credits in circulation`
  console.log(findings.length === 0 ? `✓ the books balance: ${books}` : `${findings.length} findings in ${books}`)
  if (findings.length > 0) process.exitCode = 1
}

interface ResealReport {
  master_key: string
  resealed: number
  remaining: number
  stored_answers: { remaining: number; until: string | null }
}

/** Seals what is secret under the new master key and says from when on the old one may go; exit code 1 if it may not. */
export async function reseal(): Promise<void> {
  let sealed = 0
  let report: ResealReport
  do {
    report = await callOperator<ResealReport>('POST /operator/reseal')
    sealed += report.resealed
  } while (report.resealed > 0)
  const { master_key: key, remaining, stored_answers: answers } = report
  console.log(`${sealed} values sealed anew under the master key ${key}`)
  if (remaining > 0) {
    console.log(
      `✗ ${remaining} values are sealed under a key that is not configured, or damaged: keep every old key, and look for theirs`,
    )
    process.exitCode = 1
  } else if (answers.until) {
    console.log(
      `✓ nothing needs an old key but ${answers.remaining} answers kept for repeated requests: it may go after ${answers.until}`,
    )
  } else {
    console.log('✓ nothing needs an old key any more: it may go')
  }
}

function print(data: unknown): void {
  console.log(JSON.stringify(data, null, 2))
}
