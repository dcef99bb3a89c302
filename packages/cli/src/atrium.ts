#!/usr/bin/env node
import { StartError } from '@atrium/server/errors/start-error'
import { Command, InvalidArgumentError } from 'commander'
import { keepCompiled } from './keep-compiled.ts'
import { OperatorError } from './operator-api.ts'
import { audit, createInvite, createTenant, moderateAgent, reseal, setTenantStatus, tenantLimits } from './operator-commands.ts'

keepCompiled()

const program = new Command('atrium').description("A self-hosted platform that other people's apps stand on").showHelpAfterError()

program
  .command('start')
  .description('run everything on this machine: the database if none is configured, and the API')
  .option('-w, --workers <count>', 'API processes', workers, 1)
  .option('--no-space', 'leave out the Space service: it runs elsewhere, at ATRIUM_SPACES_URL')
  .action(async (options: { workers: number; space: boolean }) => {
    const { start } = await import('@atrium/server/processes/start')
    const { runUntilStopped } = await import('./run-until-stopped.ts')
    await runUntilStopped(() => start(options))
  })

const roles = {
  api: 'the API alone: parts on other machines share its DATABASE_URL, ATRIUM_MASTER_KEY and ATRIUM_ADMIN_TOKEN',
  worker: 'the job worker alone: runs agents and does what no request waits for',
  space: 'the Space service alone',
} as const
for (const [role, description] of Object.entries(roles)) {
  program
    .command(role)
    .description(description)
    .action(async () => {
      const { startRole } = await import('@atrium/server/processes/start')
      const { runUntilStopped } = await import('./run-until-stopped.ts')
      await runUntilStopped(() => startRole(role as keyof typeof roles))
    })
}

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

program
  .command('verify <url>')
  .description('check a Space service, or a room by its link: what is proved, what is trusted, what could not be checked')
  .option('--pin <thumbprint>', 'the key that must have signed the certificate (RFC 7638 thumbprint)')
  .option('--rebuild', 'build the published source and compare the bytes')
  .option('--timeout <seconds>', 'for everything together: by default 60, and 900 with --rebuild')
  .action(async (url: string, options: { pin?: string; rebuild?: boolean; timeout?: string }) => {
    const { verify } = await import('./verify/verify.ts')
    process.exitCode = await verify(url, options)
  })

try {
  await program.parseAsync()
} catch (error) {
  // What whoever runs this can mend is one line; anything else is a fault of ours and keeps its stack.
  console.error(error instanceof StartError || error instanceof OperatorError ? `atrium: ${error.message}` : error)
  process.exit(1)
}

function count(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError('must be a whole number from 1')
  return value
}

function amount(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new InvalidArgumentError('must be a whole number')
  return value
}

function time(text: string): string {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) throw new InvalidArgumentError('must be a time such as 2026-12-31T18:00:00Z')
  return at.toISOString()
}

function workers(text: string): number {
  const value = count(text)
  if (value > 64) throw new InvalidArgumentError('must be at most 64')
  return value
}
