import type { Command } from 'commander'
import { audit, createInvite, createTenant, moderateAgent, reseal, setTenantStatus, tenantLimits } from './operator-commands.ts'
import { amount, count, time } from './parse-options.ts'

/** What an operator asks of a running installation, over HTTP. */
export function addOperatorCommands(program: Command): void {
  const tenants = program.command('tenants').description('operator: tenants of a running installation')
  tenants
    .command('create')
    .description('make a tenant and print its keys once')
    .requiredOption('--name <name>', 'name of the tenant')
    .option('--email <address>', 'whom to write to')
    .option('--role <role...>', 'app, issuer (default: both)')
    .action(createTenant)
  tenants
    .command('suspend <tenantId>')
    .description('deny all keys of a tenant')
    .action((id: string) => setTenantStatus(id, 'suspended'))
  tenants
    .command('activate <tenantId>')
    .description('let its keys work again')
    .action((id: string) => setTenantStatus(id, 'active'))
  tenants
    .command('limits <tenantId>')
    .description("show a tenant's limits; with options, set those and give it back the installation's others")
    .option('--paints-per-address <count>', 'through publishable keys, per address and day', amount)
    .option('--paints-per-collection <count>', 'through publishable keys, per collection and day', amount)
    .option('--paints-per-day <count>', "from the month's allowance, through all publishable keys together", amount)
    .option('--upload-bytes-per-address <bytes>', 'announced through publishable keys, per address and day', amount)
    .option('--stored-bytes <bytes>', 'of artifacts, whoever made them', amount)
    .option('--reset', "give it back all of the installation's limits")
    .action(tenantLimits)

  const agents = program.command('agents').description('operator: agents of all tenants')
  agents
    .command('suspend <agentId>')
    .description('take an agent out of the catalog: nobody can launch it, nor its owner bring it back')
    .action((id: string) => moderateAgent(id, 'suspended'))
  agents
    .command('pend <agentId>')
    .description('the same, while it is looked at')
    .action((id: string) => moderateAgent(id, 'pending'))
  agents
    .command('lift <agentId>')
    .description('give it the status back that its owner had set')
    .action((id: string) => moderateAgent(id, 'lifted'))

  program
    .command('invites')
    .description('operator: invites to sign up')
    .command('create')
    .option('--uses <count>', 'how many may sign up with it', count, 1)
    .option('--expires-at <time>', 'RFC 3339 time (default: never)', time)
    .action(createInvite)

  program
    .command('audit')
    .description(
      'operator: prove the books, debits against credits and each balance against its rows; exit code 1 if anything is wrong',
    )
    .action(audit)

  program
    .command('reseal')
    .description(
      'operator: seal what is secret under the first of the keys in ATRIUM_MASTER_KEY, and say when the others may go; exit code 1 if never',
    )
    .action(reseal)
}
