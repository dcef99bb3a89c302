import type { Command } from 'commander'
import { callOperator, listOperator } from './operator-api.ts'
import { toPlainJson } from './plain-json.ts'
import { operatorHelp } from './help-text.ts'
import { count, time } from './parse-options.ts'
import { toPlainText } from './verify/report.ts'

const credentialId = 'opc_4fRzK0vXcB1mQwErTy7uPa'
const tenantId = 'ten_4fRzK0vXcB1mQwErTy7uPa'

/** Adds the commands for operator credentials and the audit log. */
export function addAuditCommands(program: Command): void {
  const credentials = program
    .command('admin-credentials')
    .description('operator: manage the tokens of operators')
    .addHelpText('after', operatorHelp(['atrium admin-credentials add ada', 'atrium admin-credentials list']))
  credentials
    .command('add <name>')
    .description('create a token for one operator and print it once')
    .option('--expires <time>', 'RFC 3339 time (default: never)', time)
    .addHelpText(
      'after',
      operatorHelp(
        ['atrium admin-credentials add ada', 'atrium admin-credentials add ci --expires 2027-06-30T00:00:00Z'],
        [
          'state_conflict: an active credential has this name, or the largest number of active credentials is reached.',
          'The token is printed once and stored as a hash: nobody can read it again.',
        ],
      ),
    )
    .action(addCredential)
  credentials
    .command('list')
    .description('all credentials, oldest first: id, state, last use, expiry, name')
    .option('--json', 'print one JSON object per line, with the fields of the API')
    .addHelpText('after', operatorHelp(['atrium admin-credentials list', 'atrium admin-credentials list --json']))
    .action(listCredentials)
  credentials
    .command('revoke <credentialId>')
    .description('revoke a credential; the next call with its token is refused')
    .addHelpText(
      'after',
      operatorHelp(
        [`atrium admin-credentials revoke ${credentialId}`],
        ['not_found: there is no credential with this id; atrium admin-credentials list shows them.'],
      ),
    )
    .action((id: string) => callOperator(`DELETE /operator/credentials/${encodeURIComponent(id)}`))

  program
    .command('audit-log')
    .description('operator: print the changes that operators and tenants made, newest first')
    .option('--tenant <tenantId>', 'only entries of this tenant')
    .option('--from <time>', 'entries at this time or later (RFC 3339)', time)
    .option('--to <time>', 'entries before this time (RFC 3339)', time)
    .option('--limit <count>', 'the largest number of entries', count)
    .option('--json', 'print one JSON object per line, with the fields of the API')
    .addHelpText(
      'after',
      operatorHelp(['atrium audit-log --limit 20', `atrium audit-log --tenant ${tenantId} --from 2026-11-01T00:00:00Z --json`]),
    )
    .action(printAuditLog)
}

async function addCredential(name: string, { expires }: { expires?: string }): Promise<void> {
  const made = await callOperator('POST /operator/credentials', { name, ...(expires ? { expires_at: expires } : {}) })
  console.log(toPlainJson(made, 2))
}

interface Credential {
  id: string
  name: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
}

async function listCredentials({ json }: { json?: true }): Promise<void> {
  for await (const credential of listOperator<Credential>('/operator/credentials')) {
    const { id, name, last_used_at: used, expires_at: ends, revoked_at: revoked } = credential
    const state = revoked !== null ? 'revoked' : ends !== null && Date.parse(ends) <= Date.now() ? 'expired' : 'active'
    const columns = [id, state.padEnd(7), (used ?? 'never used').padEnd(24), (ends ?? 'no end').padEnd(24), name]
    console.log(json ? toPlainJson(credential) : columns.join('  '))
  }
}

interface AuditLogOptions {
  tenant?: string
  from?: string
  to?: string
  limit?: number
  json?: true
}

interface Entry {
  created_at: string
  actor: { kind: string; id: string | null; name: string | null }
  operation: string
  targets: Record<string, string | number>
  outcome: string
  code: string | null
  address: string | null
}

async function printAuditLog({ tenant, from, to, limit = Infinity, json }: AuditLogOptions): Promise<void> {
  const query = new URLSearchParams({ ...(tenant && { tenant_id: tenant }), ...(from && { from }), ...(to && { to }) }).toString()
  let printed = 0
  for await (const entry of listOperator<Entry>(`/operator/audit-log${query && `?${query}`}`)) {
    const { created_at: at, actor, operation, targets, outcome, code, address } = entry
    const who = [actor.kind, actor.name ?? actor.id ?? ''].filter(Boolean).join(' ')
    const what = Object.entries(targets).map(([name, value]) => `${name}=${value}`)
    const columns = [at, toPlainText(who), operation, ...what, code ?? outcome, address ?? '']
    console.log(json ? toPlainJson(entry) : columns.join('  '))
    if (++printed >= limit) return
  }
}
