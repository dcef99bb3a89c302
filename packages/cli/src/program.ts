import { StartError } from '@atrium/server/errors/start-error'
import { Command } from 'commander'
import manifest from '../../../package.json' with { type: 'json' }
import { exitWhenUnwritten } from './end-unwritten.ts'
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
  exitWhenUnwritten()
  try {
    await program.parseAsync()
  } catch (error) {
    // An error that the operator can fix is printed as one line. Any other error is a defect and is printed with its
    // stack.
    console.error(error instanceof StartError || error instanceof OperatorError ? `atrium: ${error.message}` : error)
    process.exit(1)
  }
}
