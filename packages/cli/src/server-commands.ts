import type { Command } from 'commander'
import { workers } from './parse-options.ts'

/** What runs the server, or a part of it, on this machine. */
export function addServerCommands(program: Command): void {
  program
    .command('start')
    .description('run everything on this machine: the API, the Space service, and a database unless DATABASE_URL is set')
    .option('-w, --workers <count>', 'API processes', workers, 1)
    .option('--no-space', 'do not run the Space service; it runs elsewhere, at ATRIUM_SPACES_URL')
    .action(async (options: { workers: number; space: boolean }) => {
      const { start } = await import('@atrium/server/processes/start')
      const { runUntilStopped } = await import('./run-until-stopped.ts')
      await runUntilStopped(() => start(options))
    })

  const roles = {
    api: 'only the API; processes on other machines need the same DATABASE_URL, ATRIUM_MASTER_KEY and ATRIUM_ADMIN_TOKEN',
    worker: 'only the worker: runs agents and background jobs',
    space: 'only the Space service',
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
