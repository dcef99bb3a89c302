import type { Command } from 'commander'
import { helpText } from './help-text.ts'

/** Adds the command that changes the keys with which the platform signs. */
export function addKeys(program: Command): void {
  const keys = program
    .command('keys')
    .description('the keys that the platform signs with; those of tenants are theirs (docs/guides/keys.md)')
    .addHelpText(
      'after',
      helpText({ examples: ['atrium keys rotate receipts'], errors: ['Exit code 1: see the help of each command.'] }),
    )
  keys
    .command('rotate <use>')
    .description(
      'make a new key that signs from now on: receipts, quotes, agent_tokens or transparency_log (docs/operating/rotate.md)',
    )
    .option(
      '--at-once',
      'sign with the new key at once, not after it was published for two minutes: for a key that somebody else has',
    )
    .addHelpText(
      'after',
      helpText({
        examples: ['atrium keys rotate receipts', 'atrium keys rotate quotes --at-once'],
        environment: {
          DATABASE_URL: 'the PostgreSQL; default: the one in ATRIUM_DATA_DIR',
          ATRIUM_MASTER_KEY: 'the key that seals the new one; default: master-key in ATRIUM_DATA_DIR',
        },
        errors: [
          'Exit code 1 and one line on stderr if the database or the master key cannot be used. If the command is interrupted, the new key is published and does not sign; run it again to continue.',
        ],
      }),
    )
    .action(async (use: string, { atOnce }: { atOnce?: true }) => {
      const { rotateKey } = await import('@atrium/server/processes/rotate-key')
      await rotateKey(use, { atOnce: atOnce ?? false })
    })
}
