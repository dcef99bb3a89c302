import type { Command } from 'commander'
import { helpText, operatorEnvironment } from './help-text.ts'

export function addLeaks(program: Command): void {
  const leaks = program
    .command('leaks')
    .description('find credentials of Atrium where they should not be')
    .addHelpText(
      'after',
      helpText({
        examples: ['atrium leaks scan .'],
        errors: ['Exit code 1: something was found. See the help of each command.'],
      }),
    )
  leaks
    .command('scan <path>')
    .description('find well-formed secret keys and other credentials in a file or a folder; works offline')
    .option('--report', 'report the keys to the running installation, which revokes them unless their tenant chose otherwise')
    .addHelpText(
      'after',
      helpText({
        examples: ['atrium leaks scan .', 'atrium leaks scan build/app.log', 'atrium leaks scan . --report'],
        environment: operatorEnvironment,
        errors: [
          'Exit code 0: nothing was found. 1: something was found. 2: nothing was found, but something could not be read.',
          'A credential is found by its prefix, length and checksum. Whether it still works is only checked with --report.',
          'With --report, the tenant of a key gets the path. If no server answers or the token is refused: exit code 1 and one line on stderr; the scan can be repeated.',
          'Binary files and files above 10 MiB are skipped, and links are not followed. The history of Git is compressed: check out what you want to scan.',
          'Publishable keys are public, and are not reported.',
        ],
      }),
    )
    .action(async (path: string, options: { report?: boolean }) => {
      const { printScan } = await import('./leaks/print-scan.ts')
      process.exitCode = await printScan(path, options)
    })
}
