import type { Command } from 'commander'
import {
  audit,
  createConsoleLink,
  createInvite,
  createTenant,
  listAgents,
  listInvites,
  listTenants,
  moderateAgent,
  reseal,
  revokeInvite,
  setTenantStatus,
  tenantLimits,
} from './operator-commands.ts'
import { addTenantDataCommands } from './add-tenant-data-commands.ts'
import { operatorHelp } from './help-text.ts'
import { amount, count, percent, tenantId as tenantIdOption, time } from './parse-options.ts'

const tenantId = 'ten_4fRzK0vXcB1mQwErTy7uPa'
const agentId = 'agt_4fRzK0vXcB1mQwErTy7uPa'
const inviteId = 'ivt_4fRzK0vXcB1mQwErTy7uPa'
const unknownTenant = 'not_found: there is no tenant with this id; atrium tenants list shows them.'
const unknownAgent = 'not_found: there is no agent with this id; atrium agents list shows them.'

/** Adds the commands that call a running installation over HTTP as its operator. */
export function addOperatorCommands(program: Command): void {
  const tenants = program
    .command('tenants')
    .description('operator: manage the tenants of a running installation')
    .addHelpText('after', operatorHelp(['atrium tenants create --name "My app"', 'atrium tenants list']))
  tenants
    .command('create')
    .description('create a tenant and print its keys once')
    .requiredOption('--name <name>', 'name of the tenant')
    .option('--email <address>', 'contact address')
    .option('--role <role...>', 'app, issuer (default: both)')
    .addHelpText(
      'after',
      operatorHelp(
        ['atrium tenants create --name "My app"', 'atrium tenants create --name Mint --email mint@example.com --role issuer'],
        ['The keys are printed once and stored as hashes: nobody can read them again.'],
      ),
    )
    .action(createTenant)
  tenants
    .command('list')
    .description('list all tenants, oldest first: id, status, roles, day of creation, deletion (if any), name')
    .option('--json', 'print one JSON object per line, with the fields of the API')
    .addHelpText('after', operatorHelp(['atrium tenants list', 'atrium tenants list --json | grep suspended']))
    .action(listTenants)
  tenants
    .command('suspend <tenantId>')
    .description('disable all keys of a tenant, and stop its sessions')
    .addHelpText('after', operatorHelp([`atrium tenants suspend ${tenantId}`], [unknownTenant]))
    .action((id: string) => setTenantStatus(id, 'suspended'))
  tenants
    .command('activate <tenantId>')
    .description('enable its keys again')
    .addHelpText('after', operatorHelp([`atrium tenants activate ${tenantId}`], [unknownTenant]))
    .action((id: string) => setTenantStatus(id, 'active'))
  tenants
    .command('limits <tenantId>')
    .description("show a tenant's limits; with options, set those and reset the others to the installation's defaults")
    .option('--paints-per-address <count>', 'paintings through publishable keys, per IP address and UTC day', amount)
    .option('--paints-per-collection <count>', 'paintings through publishable keys, per collection and UTC day', amount)
    .option(
      '--paints-per-day <count>',
      'paintings from the monthly allowance, through all publishable keys together, per UTC day',
      amount,
    )
    .option(
      '--upload-bytes-per-address <bytes>',
      'bytes of uploads announced through publishable keys, per IP address and UTC day',
      amount,
    )
    .option('--stored-bytes <bytes>', 'bytes of stored artifacts from any source', amount)
    .option('--open-streams <count>', 'open event streams of each API process', amount)
    .option('--paints-per-month <count>', 'paintings a month without a coupon, through any key', amount)
    .option('--active-sessions <count>', 'sessions that are launching or running', amount)
    .option('--pending-launches <count>', 'pending launches', amount)
    .option('--active-generations <count>', 'artifacts whose generation is queued or running', amount)
    .option('--open-uploads <count>', 'uploads that are announced and not complete', amount)
    .option('--open-upload-bytes <bytes>', 'announced bytes of these uploads', amount)
    .option('--open-uploads-in-collection <count>', 'of these uploads, those into one collection', amount)
    .option('--rate-percent <percent>', "rate limits of the tenant and its keys, in percent of the installation's", percent)
    .option('--reset', "reset all limits to the installation's defaults")
    .addHelpText(
      'after',
      operatorHelp(
        [
          `atrium tenants limits ${tenantId}`,
          `atrium tenants limits ${tenantId} --paints-per-day 500 --stored-bytes 5000000000`,
          `atrium tenants limits ${tenantId} --reset`,
        ],
        [unknownTenant, '--reset cannot be combined with other options.'],
      ),
    )
    .action(tenantLimits)
  addTenantDataCommands(tenants)

  const agents = program
    .command('agents')
    .description('operator: manage the agents of all tenants')
    .addHelpText('after', operatorHelp(['atrium agents list', `atrium agents suspend ${agentId}`]))
  agents
    .command('list')
    .description('list all agents, oldest first: id, status, tenant, name')
    .option('--json', 'print one JSON object per line, with the fields of the API')
    .addHelpText('after', operatorHelp(['atrium agents list', 'atrium agents list --json | grep pending']))
    .action(listAgents)
  agents
    .command('suspend <agentId>')
    .description('remove an agent from the catalog; nobody can launch it, and its owner cannot lift the suspension')
    .addHelpText('after', operatorHelp([`atrium agents suspend ${agentId}`], [unknownAgent]))
    .action((id: string) => moderateAgent(id, 'suspended'))
  agents
    .command('pend <agentId>')
    .description('remove an agent from the catalog during a review, without stopping its sessions')
    .addHelpText('after', operatorHelp([`atrium agents pend ${agentId}`], [unknownAgent]))
    .action((id: string) => moderateAgent(id, 'pending'))
  agents
    .command('lift <agentId>')
    .description('lift a suspension or review: restore the status that the owner set last')
    .addHelpText('after', operatorHelp([`atrium agents lift ${agentId}`], [unknownAgent]))
    .action((id: string) => moderateAgent(id, 'lifted'))

  const invites = program
    .command('invites')
    .description('operator: manage invites to sign up')
    .addHelpText('after', operatorHelp(['atrium invites create --uses 5', 'atrium invites list']))
  invites
    .command('create')
    .description('create an invite and print its code once')
    .option('--uses <count>', 'how many tenants can sign up with the invite', count, 1)
    .option('--expires-at <time>', 'RFC 3339 time (default: never)', time)
    .addHelpText(
      'after',
      operatorHelp(
        ['atrium invites create', 'atrium invites create --uses 5 --expires-at 2026-12-31T18:00:00Z'],
        ['A time in the past is refused.'],
      ),
    )
    .action(createInvite)
  invites
    .command('list')
    .description('list all invites, newest first: id, state, uses left, expiry, hint of the code')
    .option('--json', 'print one JSON object per line, with the fields of the API')
    .addHelpText('after', operatorHelp(['atrium invites list', 'atrium invites list --json | grep active']))
    .action(listInvites)
  invites
    .command('revoke <inviteId>')
    .description('revoke an invite; it signs up nobody from now on')
    .addHelpText(
      'after',
      operatorHelp(
        [`atrium invites revoke ${inviteId}`],
        ['not_found: there is no invite with this id; atrium invites list shows them.'],
      ),
    )
    .action(revokeInvite)

  program
    .command('console-link')
    .description('operator: print a one-time link that signs in to the console; valid for 10 minutes')
    .option('--tenant <tenantId>', 'sign in as an owner of this tenant; atrium tenants list shows the ids', tenantIdOption)
    .option('--operator', 'sign in as an operator')
    .addHelpText(
      'after',
      operatorHelp(
        [`atrium console-link --tenant ${tenantId}`, 'atrium console-link --operator'],
        [
          unknownTenant,
          'Give either --tenant or --operator. With neither option, the command lists the console-link commands for an operator and up to 20 tenants.',
        ],
      ),
    )
    .action(createConsoleLink)

  program
    .command('audit')
    .description(
      'operator: check that debits equal credits in the ledger and that each balance matches its rows; exit code 1 if there are findings',
    )
    .addHelpText(
      'after',
      operatorHelp(['atrium audit'], ['Exit code 1 if there are findings. Each is printed on one line of stdout.']),
    )
    .action(audit)

  program
    .command('reseal')
    .description(
      'operator: reseal secrets under the first master key, and print when the others can be removed; exit code 1 if they cannot',
    )
    .addHelpText(
      'after',
      operatorHelp(['atrium reseal'], ['Exit code 1 if a key is still needed. docs/master-key.md explains how to change it.']),
    )
    .action(reseal)
}
