import { callOperator, listOperator, OperatorError } from './operator-api.ts'
import { toPlainJson } from './plain-json.ts'
import { toPlainText } from './verify/report.ts'

interface NewTenant {
  name: string
  email?: string
  role?: string[]
}

export async function createTenant({ name, email, role }: NewTenant): Promise<void> {
  print(await callOperator('POST /tenants', { name, ...(email ? { email } : {}), ...(role ? { roles: role } : {}) }))
}

interface ListedTenant {
  id: string
  name: string
  roles: string[]
  status: string
  created_at: string
  deletion: { state: string; due_at: string } | null
}

/**
 * Prints one line per row. Control characters in names are removed, because tenants choose the names and a terminal
 * would execute them.
 */
export async function listTenants({ json }: { json?: true }): Promise<void> {
  let found = 0
  for await (const tenant of listOperator<ListedTenant>('/tenants')) {
    found++
    const { id, status, roles, created_at: createdAt, name, deletion } = tenant
    const due = deletion ? [`deletion ${deletion.state}, due ${deletion.due_at.slice(0, 16)}Z`] : []
    // The name is last: a tenant chooses it, and it may look like a column.
    const columns = [id, status.padEnd(9), roles.join(',').padEnd(10), createdAt.slice(0, 10), ...due, toPlainText(name)]
    console.log(json ? toPlainJson(tenant) : columns.join('  '))
  }
  if (found === 0) console.error('There is no tenant yet. Create one: atrium tenants create --name "My app"')
}

interface ListedAgent {
  id: string
  tenant_id: string
  name: string
  status: string
}

export async function listAgents({ json }: { json?: true }): Promise<void> {
  let found = 0
  for await (const agent of listOperator<ListedAgent>('/operator/agents')) {
    found++
    const { id, status, tenant_id: tenantId, name } = agent
    console.log(json ? toPlainJson(agent) : [id, status.padEnd(9), tenantId, toPlainText(name)].join('  '))
  }
  if (found === 0) console.error('No tenant has registered an agent yet.')
}

export async function setTenantStatus(id: string, status: 'active' | 'suspended'): Promise<void> {
  print(await callOperator(`POST /tenants/${encodeURIComponent(id)}/status`, { status }))
}

interface LimitOptions {
  paintsPerAddress?: number
  paintsPerCollection?: number
  paintsPerDay?: number
  uploadBytesPerAddress?: number
  storedBytes?: number
  openStreams?: number
  paintsPerMonth?: number
  activeSessions?: number
  pendingLaunches?: number
  activeGenerations?: number
  openUploads?: number
  openUploadBytes?: number
  openUploadsInCollection?: number
  ratePercent?: number
  reset?: true
}

export async function tenantLimits(id: string, { reset, ...asked }: LimitOptions): Promise<void> {
  const path = `/tenants/${encodeURIComponent(id)}/limits` as const
  const overrides = {
    paints_per_address: asked.paintsPerAddress,
    paints_per_collection: asked.paintsPerCollection,
    paints_per_day: asked.paintsPerDay,
    upload_bytes_per_address: asked.uploadBytesPerAddress,
    stored_bytes: asked.storedBytes,
    open_streams: asked.openStreams,
    paints_per_month: asked.paintsPerMonth,
    active_sessions: asked.activeSessions,
    pending_launches: asked.pendingLaunches,
    active_generations: asked.activeGenerations,
    open_uploads: asked.openUploads,
    open_upload_bytes: asked.openUploadBytes,
    open_uploads_in_collection: asked.openUploadsInCollection,
    rate_percent: asked.ratePercent,
  }
  const isAsked = Object.values(overrides).some((value) => value !== undefined)
  if (reset && isAsked) throw new OperatorError('--reset cannot be combined with other options')
  print(await (reset || isAsked ? callOperator(`PUT ${path}`, overrides) : callOperator(`GET ${path}`)))
}

export async function moderateAgent(id: string, status: 'suspended' | 'pending' | 'lifted'): Promise<void> {
  print(await callOperator(`POST /operator/agents/${encodeURIComponent(id)}/status`, { status }))
}

export async function createInvite({ uses, expiresAt }: { uses: number; expiresAt?: string }): Promise<void> {
  print(
    await callOperator('POST /tenants/invites', {
      uses,
      ...(expiresAt ? { expires_at: expiresAt } : {}),
    }),
  )
}

interface ListedInvite {
  id: string
  hint: string | null
  state: string
  uses: number | null
  uses_left: number
  expires_at: string | null
}

export async function listInvites({ json }: { json?: true }): Promise<void> {
  let found = 0
  for await (const invite of listOperator<ListedInvite>('/tenants/invites')) {
    found++
    const { id, hint, state, uses, uses_left: left, expires_at: ends } = invite
    const columns = [id, state.padEnd(7), `${left} of ${uses ?? '?'} left`.padEnd(20), (ends ?? 'no end').padEnd(24), hint ?? '']
    console.log(json ? toPlainJson(invite) : columns.join('  ').trimEnd())
  }
  if (found === 0) console.error('There is no invite yet. Create one: atrium invites create')
}

export async function revokeInvite(id: string): Promise<void> {
  await callOperator(`DELETE /tenants/invites/${encodeURIComponent(id)}`)
}

const LISTED_TENANTS = 20

/** What to call instead, on the error stream, because there is no link to open. */
async function listConsoleLinkCommands(): Promise<void> {
  const command = process.env['npm_lifecycle_event'] === 'atrium' ? 'npm run -s atrium --' : 'atrium'
  console.error('Give either --tenant ID or --operator:')
  console.error(`  ${command} console-link --operator`)
  let listed = 0
  for await (const { id, name } of listOperator<ListedTenant>('/tenants')) {
    if (listed++ === LISTED_TENANTS) {
      console.error(`More tenants: ${command} tenants list`)
      break
    }
    console.error(`  ${command} console-link --tenant ${id}  # ${toPlainText(name)}`)
  }
  process.exitCode = 1
}

/** Prints the link alone, so that it can be opened from a script. */
export async function createConsoleLink({ tenant, operator }: { tenant?: string; operator?: true }): Promise<void> {
  if (tenant !== undefined && operator) throw new OperatorError('give either --tenant ID or --operator')
  if (tenant === undefined && !operator) return listConsoleLinkCommands()
  const body = operator ? { kind: 'operator' } : { kind: 'tenant', tenant_id: tenant }
  console.log((await callOperator<{ url: string }>('POST /operator/console-links', body)).url)
}

interface AuditReport {
  accounts: number
  transfers: number
  credits: number
  findings: { rule: string; subject: string; detail: string }[]
}

/** Audits the ledger: prints one line, or one line per finding and exit code 1. */
export async function audit(): Promise<void> {
  const { accounts, transfers, credits, findings } = await callOperator<AuditReport>('GET /operator/audit')
  for (const { rule, subject, detail } of findings) console.log(`✗ ${rule}: ${subject}: ${detail}`)
  const books = `${transfers} transfers between ${accounts} accounts, ${credits} credits in circulation`
  console.log(findings.length === 0 ? `✓ the ledger is consistent: ${books}` : `${findings.length} findings in ${books}`)
  if (findings.length > 0) process.exitCode = 1
}

interface KeyNeeds {
  id: string
  configured: boolean
  values: number
  answers: number
  answers_until: string | null
  /** Absent in the answer of an earlier release. */
  processes?: number
}

interface ResealReport {
  resealed: number
  /** The key that seals: the first configured one. */
  keys: [KeyNeeds, ...KeyNeeds[]]
}

/**
 * Reseals secrets under the first master key and prints what each other key is still needed for. Exit code 1 if a key
 * is needed for values that cannot be resealed, or if a process still seals under it.
 */
export async function reseal(): Promise<void> {
  let sealed = 0
  let first: string | undefined
  let report: ResealReport
  do {
    report = await callOperator<ResealReport>('POST /operator/reseal')
    const seals = report.keys[0].id
    first ??= seals
    // Each server would reseal the values of the other, without end.
    if (seals !== first)
      throw new OperatorError(
        `servers at this address seal under different keys, ${first} and ${seals}: configure the same order on all of them`,
      )
    sealed += report.resealed
  } while (report.resealed > 0)
  const [current, ...others] = report.keys
  console.log(`  Key 1 (${current.id}) seals ${counted(current.values)}, ${sealed} of them resealed now. Keep it.`)
  others.forEach((key, i) =>
    console.log(needsOf(key, key.configured ? `Key ${i + 2} (${key.id})` : `A key that is not configured (${key.id})`)),
  )
  if (others.length === 0) console.log('  There is no other key. To change it: docs/master-key.md')
  if (others.some(({ values, processes = 0 }) => values + processes > 0)) process.exitCode = 1
}

function needsOf({ configured, values, answers, answers_until: until, processes = 0 }: KeyNeeds, name: string): string {
  if (processes > 0) {
    const sealing = processes === 1 ? '1 running process still seals' : `${processes} running processes still seal`
    return `✗ ${name}: ${sealing} under it. Keep it, restart them with the new key first, and run this command again.`
  }
  if (values > 0 && configured)
    return `✗ ${name}: needed for ${counted(values)} that could not be resealed because they are damaged. Keep it.`
  if (values > 0) return `✗ ${name}: needed for ${counted(values)}, unreadable without it. Restore it.`
  const removal =
    'Remove it 30 days (or ATRIUM_EVENT_RETENTION_DAYS, if that is longer) after the last process sealed under it: ' +
    'until then, clients may have stream cursors that need it.'
  if (until === null) return `✓ ${name}: nothing that is stored needs it. ${removal}`
  return `✓ ${name}: needed only for stored answers of Idempotency-Keys (${answers}), until ${until}. ${removal}`
}

function counted(values: number): string {
  return values === 1 ? '1 value' : `${values} values`
}

function print(data: unknown): void {
  console.log(toPlainJson(data, 2))
}
