import { constants } from 'node:os'
import { StartError } from '@atrium/server/errors/start-error'
import { Command } from 'commander'
import manifest from '../../../package.json' with { type: 'json' }
import { OperatorError } from './operator-api.ts'

export function makeProgram(description: string): Command {
  // The help of some commands is longer than a screen: after an error, it would push the error out of sight.
  return new Command('atrium')
    .description(description)
    .version(manifest.version, '-V, --version')
    .showHelpAfterError('Add --help to see the options and examples.')
}

/** Runs the command that the arguments name. If it fails, exits with code 1. */
export async function runProgram(program: Command): Promise<void> {
  process.stdout.on('error', (error) => {
    // A command with a listener of its own decides itself: a server runs on, a backup has failed.
    if (process.stdout.listenerCount('error') === 1) endUnwritten(error)
  })
  try {
    await program.parseAsync()
  } catch (error) {
    // An error that the operator can fix is printed as one line. Any other error is a defect and is printed with its
    // stack.
    console.error(error instanceof StartError || error instanceof OperatorError ? `atrium: ${error.message}` : error)
    process.exit(1)
  }
}

/**
 * Ends the command because its output cannot be written. If the reader has ended, as in `| head`, it prints nothing and
 * exits with the code of a program that SIGPIPE ended.
 */
export function endUnwritten(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE)
  console.error(`atrium: the output cannot be written: ${error.message}`)
  process.exit(1)
}
