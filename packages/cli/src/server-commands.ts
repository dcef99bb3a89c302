import type { Command } from 'commander'
import { helpText } from './help-text.ts'
import { OperatorError } from './operator-api.ts'
import { seconds, workers } from './parse-options.ts'

const startErrors = [
  'Exit code 1 and one line on stderr that names the variable if a setting is wrong, or if a port or the data folder is in use.',
]

const direct = 'an address that leads past PgBouncer in transaction mode, if DATABASE_URL leads through one'

const environment = {
  DATABASE_URL: 'the PostgreSQL that all parts share',
  DATABASE_DIRECT_URL: direct,
  ATRIUM_MASTER_KEY: 'the key that seals secrets at rest, the same for all parts',
}

const archiveEnvironment = {
  DATABASE_URL: 'the database; without it, the one in ATRIUM_DATA_DIR',
  DATABASE_DIRECT_URL: direct,
  ATRIUM_DATA_DIR: 'folder of keys, files and the database; default: ./data',
  ATRIUM_BLOBS: 'where stored files are, with the variables of S3',
  ATRIUM_MASTER_KEY: 'for a restore: the key of the archive; default: master-key in ATRIUM_DATA_DIR',
  ATRIUM_SPACE_SIGNING_KEY: 'the key of Space; default: space-signing-key in ATRIUM_DATA_DIR',
}

/** Adds the commands that run the server, or a part of it, on this machine. */
export function addServerCommands(program: Command): void {
  program
    .command('start')
    .description('run everything on this machine: the API, the Space service, and a database unless DATABASE_URL is set')
    .option('-w, --workers <count>', 'API processes, 1 to 64', workers, 1)
    .option('--no-space', 'do not run the Space service; it runs elsewhere, at ATRIUM_SPACES_URL')
    .addHelpText(
      'after',
      helpText({
        examples: ['atrium start', 'atrium start --workers 4', 'PORT=9000 ATRIUM_DATA_DIR=/var/lib/atrium atrium start'],
        environment: {
          PORT: 'port of the API; default: 8787',
          ATRIUM_DATA_DIR: 'folder of keys, files and the database; default: ./data',
          DATABASE_URL: 'a PostgreSQL of your own',
        },
        errors: startErrors,
      }),
    )
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
    // The Space service receives none of the platform's secrets.
    const ofSpace = {
      DATABASE_URL: environment.DATABASE_URL,
      ATRIUM_SPACE_SIGNING_KEY: 'the key that signs the certificate, the same on all machines',
    }
    program
      .command(role)
      .description(description)
      .addHelpText(
        'after',
        helpText({
          examples: [`DATABASE_URL=postgres://… atrium ${role}`],
          environment: role === 'space' ? ofSpace : environment,
          errors: startErrors,
        }),
      )
      .action(async () => {
        const { startRole } = await import('@atrium/server/processes/start')
        const { runUntilStopped } = await import('./run-until-stopped.ts')
        await runUntilStopped(() => startRole(role as keyof typeof roles))
      })
  }

  program
    .command('migrate')
    .description(
      'apply pending migrations to the database; the previous release can serve meanwhile. The command can be repeated and can run on several machines at once',
    )
    .option('--status', 'only list pending migrations; exit code 1 if there are any')
    .option('--lock-wait <seconds>', 'how long each migration waits for its locks', seconds, 120)
    .addHelpText(
      'after',
      helpText({
        examples: ['atrium migrate --status', 'DATABASE_URL=postgres://… atrium migrate --lock-wait 600'],
        environment: {
          DATABASE_URL: 'the PostgreSQL; default: the one in ATRIUM_DATA_DIR',
          DATABASE_DIRECT_URL: direct,
        },
        errors: [
          'Exit code 1 and one line on stderr if the database cannot be reached, or if a migration does not get its locks in time. Migrations that were applied before stay applied; run the command again.',
        ],
      }),
    )
    .action(async ({ status, lockWait }: { status?: true; lockWait: number }) => {
      const { migrateDatabase } = await import('@atrium/server/processes/migrate-database')
      const { sayWhenStopped } = await import('./run-until-stopped.ts')
      if (!status) sayWhenStopped('stopped. What was applied stays applied; run atrium migrate again to continue')
      const isDone = await migrateDatabase({ dryRun: status ?? false, lockWaitMs: lockWait * 1_000 })
      if (!isDone) process.exitCode = 1
    })

  program
    .command('distribute')
    .description(
      'spread the tables that grow over the nodes of a Citus cluster, with their rows; run it again after atrium migrate (docs/operating/distribute.md)',
    )
    .addHelpText(
      'after',
      helpText({
        examples: ['DATABASE_URL=postgres://coordinator/atrium atrium distribute'],
        environment: { DATABASE_URL: 'the coordinator of the cluster' },
        errors: [
          'Exit code 1 and one line on stderr if the database has no Citus or no worker, is not up to date, or if other programs are connected to it: stop Atrium first. Tables that were moved before stay moved; run the command again.',
        ],
      }),
    )
    .action(async () => {
      const { distributeDatabase } = await import('@atrium/server/processes/distribute-database')
      const { sayWhenStopped } = await import('./run-until-stopped.ts')
      sayWhenStopped('stopped. Tables that were moved stay moved; run atrium distribute again to continue')
      await distributeDatabase()
    })

  program
    .command('backup <file>')
    .description(
      'write a backup of the database and the stored files into one archive, while the server runs; - is standard output (docs/operating/backup.md)',
    )
    .option('--no-blobs', 'leave out stored files, for example if the object storage has its own backups')
    .option('--recipient <key...>', 'encrypt the archive to age public keys (age1…)')
    .addHelpText(
      'after',
      helpText({
        examples: [
          'atrium backup /backups/2026-11-22.tar',
          'atrium backup - --recipient age1… | ssh vault "cat > atrium.tar.age"',
        ],
        environment: archiveEnvironment,
        errors: [
          'Exit code 1 and one line on stderr if the file exists, or if the database or the object storage cannot be read. The file is created only when the archive is complete. A backup waits while atrium migrate runs.',
        ],
      }),
    )
    .action(async (file: string, { blobs, recipient }: { blobs: boolean; recipient?: string[] }) => {
      const { backUp } = await import('@atrium/server/processes/back-up')
      await backUp({ file, blobs, recipients: recipient ?? [] })
    })

  program
    .command('restore [file]')
    .description('load an archive of atrium backup into an empty database (docs/operating/backup.md)')
    .option(
      '--verify',
      'check that the ledger balances, the chains of rooms are unbroken, and the master key opens every sealed value',
    )
    .option('--no-blobs', 'leave out stored files')
    .option('--identity <file>', 'the age identity that opens an encrypted archive')
    .option('--confirm-window', 'after a restore: accept keys and codes again, and run jobs')
    .addHelpText(
      'after',
      helpText({
        examples: ['atrium restore /backups/2026-11-22.tar --verify', 'atrium restore --confirm-window'],
        environment: archiveEnvironment,
        errors: [
          'Exit code 1 and one line on stderr if the database is not empty, if the archive is damaged or belongs to other keys than those that are configured, or if --verify finds a problem. A database that was restored only in part is refused by every start; run the restore again.',
        ],
      }),
    )
    .action(async (file: string | undefined, options: RestoreFlags) => {
      const { confirmWindow, restore } = await import('@atrium/server/processes/restore')
      if (options.confirmWindow && file !== undefined) throw new OperatorError('--confirm-window takes no file')
      if (options.confirmWindow) return confirmWindow()
      if (file === undefined) throw new OperatorError('no archive is named: atrium restore FILE')
      const { sayWhenStopped } = await import('./run-until-stopped.ts')
      sayWhenStopped('stopped. atrium start refuses a database that was restored only in part; run the restore again')
      await restore({ file, identity: options.identity, verify: options.verify ?? false, blobs: options.blobs })
    })
}

interface RestoreFlags {
  verify?: true
  blobs: boolean
  identity?: string
  confirmWindow?: true
}
