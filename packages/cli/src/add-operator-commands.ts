import type { Command } from 'commander'
import {
  audit,
  createInvite,
  createTenant,
  listAgents,
  listTenants,
  moderateAgent,
  reseal,
  setTenantStatus,
  tenantLimits,
} from './operator-commands.ts'
import { amount, count, time } from './parse-options.ts'

/** What an operator asks of a running installation, over HTTP. */
export function addOperatorCommands(program: Command): void {
  const tenants = program.command('tenants').description('operator: manage the tenants of a running installation')
  tenants
    .command('create')
    .description('create a tenant and print its keys once')
    .requiredOption('--name <name>', 'name of the tenant')
    .option('--email <address>', 'contact address')
    .option('--role <role...>', 'app, issuer (default: both)')
    .action(createTenant)
  tenants
    .command('list')
    .description('all tenants, oldest first: id, status, roles, day, name')
    .option('--json', 'a JSON object a line, as the API has it')
    .action(listTenants)
  tenants
    .command('suspend <tenantId>')
    .description('disable all keys of a tenant')
    .action((id: string) => setTenantStatus(id, 'suspended'))
  tenants
    .command('activate <tenantId>')
    .description('enable its keys again')
    .action((id: string) => setTenantStatus(id, 'active'))
  tenants
    .command('limits <tenantId>')
    .description("show a tenant's limits; with options, set those and reset the others to the installation's defaults")
    .option('--paints-per-address <count>', 'paintings through publishable keys, per IP address and day', amount)
    .option('--paints-per-collection <count>', 'paintings through publishable keys, per collection and day', amount)
    .option(
      '--paints-per-day <count>',
      'paintings from the monthly allowance, through all publishable keys together, per day',
      amount,
    )
    .option('--upload-bytes-per-address <bytes>', 'uploads announced through publishable keys, per IP address and day', amount)
    .option('--stored-bytes <bytes>', 'stored artifacts from any source', amount)
    .option('--open-streams <count>', 'open event streams of each API process', amount)
    .option('--reset', "reset all limits to the installation's defaults")
    .action(tenantLimits)

  const agents = program.command('agents').description('operator: manage the agents of all tenants')
  agents
    .command('list')
    .description('all agents, oldest first: id, status, tenant, name')
    .option('--json', 'a JSON object a line, as the API has it')
    .action(listAgents)
  agents
    .command('suspend <agentId>')
    .description('remove an agent from the catalog; nobody can launch it, and its owner cannot lift the suspension')
    .action((id: string) => moderateAgent(id, 'suspended'))
  agents
    .command('pend <agentId>')
    .description('the same during a review, without stopping its sessions')
    .action((id: string) => moderateAgent(id, 'pending'))
  agents
    .command('lift <agentId>')
    .description('restore the status that its owner set last')
    .action((id: string) => moderateAgent(id, 'lifted'))

  program
    .command('invites')
    .description('operator: manage invites to sign up')
    .command('create')
    .option('--uses <count>', 'how many tenants can sign up with the invite', count, 1)
    .option('--expires-at <time>', 'RFC 3339 time (default: never)', time)
    .action(createInvite)

  program
    .command('audit')
    .description(
      'operator: audit the ledger, debits against credits and each balance against its rows; exit code 1 if there are findings',
    )
    .action(audit)

  program
    .command('reseal')
    .description(
      'operator: reseal secrets under the first key in ATRIUM_MASTER_KEY, and print when the others can be removed; exit code 1 if they cannot',
    )
    .action(reseal)
}
