import type { Command } from 'commander'
import { workers } from './parse-options.ts'

/** What runs the server, or a part of it, on this machine. */
export function addServerCommands(program: Command): void {
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
}
