import { once } from 'node:events'
import type { Command } from 'commander'
import { operatorHelp } from './help-text.ts'
import { callOperator, OperatorError, streamOperator } from './operator-api.ts'
import { toPlainJson } from './plain-json.ts'
import { amount } from './parse-options.ts'
import { endUnwritten } from './end-unwritten.ts'

const tenantId = 'ten_4fRzK0vXcB1mQwErTy7uPa'
const unknownTenant = 'not_found: there is no tenant with this id; atrium tenants list shows them.'

/** Adds the commands that export or delete the data of a tenant. */
export function addTenantDataCommands(tenants: Command): void {
  tenants
    .command('export <tenantId>')
    .description('export all data of a tenant to stdout, one JSON object per line')
    .option('--blobs', 'include the stored files, in pieces')
    .addHelpText(
      'after',
      operatorHelp(
        [
          `atrium tenants export ${tenantId} > tenant.ndjson`,
          `atrium tenants export ${tenantId} --blobs | gzip > tenant.ndjson.gz`,
        ],
        [unknownTenant, 'Exit code 1 if the export is incomplete: its last line is missing.'],
      ),
    )
    .action(exportTenant)
  tenants
    .command('delete <tenantId>')
    .description('suspend a tenant, and remove its rows and stored files after a delay')
    .option('--after-days <days>', 'days in which the deletion can be cancelled, 0 to 365 (default: 7)', amount)
    .option('--cancel', 'cancel a deletion that has not begun')
    .option('--status', 'show how far the deletion is')
    .addHelpText(
      'after',
      operatorHelp(
        [
          `atrium tenants delete ${tenantId}`,
          `atrium tenants delete ${tenantId} --cancel`,
          `atrium tenants delete ${tenantId} --status`,
        ],
        [
          unknownTenant,
          'state_conflict: the deletion has begun and cannot be cancelled.',
          '--after-days, --cancel and --status cannot be combined.',
        ],
      ),
    )
    .action(deleteTenant)
}

/** The number of bytes at the end of the export that are kept: enough for its last line. */
const tailBytes = 1_000

async function exportTenant(id: string, { blobs }: { blobs?: true }): Promise<void> {
  const stream = await streamOperator(`/tenants/${encodeURIComponent(id)}/export${blobs ? '?blobs=true' : ''}`)
  let tail = Buffer.alloc(0)
  try {
    for await (const chunk of stream) {
      tail = Buffer.concat([tail, chunk]).subarray(-tailBytes)
      if (!process.stdout.write(chunk)) await once(process.stdout, 'drain').catch(endUnwritten)
    }
  } catch {
    throw new OperatorError('the connection closed before the export was complete; run the command again')
  }
  if (!/\n\{"end":true[^\n]*\n$/.test(tail.toString()))
    throw new OperatorError('the export is incomplete: its last line is missing; run the command again')
}

interface DeleteOptions {
  afterDays?: number
  cancel?: true
  status?: true
}

async function deleteTenant(id: string, { afterDays, cancel, status }: DeleteOptions): Promise<void> {
  if ([afterDays, cancel, status].filter((given) => given !== undefined).length > 1)
    throw new OperatorError('--after-days, --cancel and --status cannot be combined')
  const path = `/tenants/${encodeURIComponent(id)}/deletion` as const
  if (cancel) await callOperator(`DELETE ${path}`)
  const deletion =
    cancel || status
      ? await callOperator(`GET ${path}`)
      : await callOperator(`POST ${path}`, afterDays === undefined ? {} : { after_days: afterDays })
  console.log(toPlainJson(deletion, 2))
}
