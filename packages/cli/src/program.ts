import { StartError } from '@atrium/server/errors/start-error'
import { Command } from 'commander'
import manifest from '../../../package.json' with { type: 'json' }
import { OperatorError } from './operator-api.ts'

export function makeProgram(description: string): Command {
  return new Command('atrium').description(description).version(manifest.version, '-V, --version').showHelpAfterError()
}

/** Runs what the arguments ask for; exit code 1 when it fails. */
export async function runProgram(program: Command): Promise<void> {
  try {
    await program.parseAsync()
  } catch (error) {
    // What whoever runs this can mend is one line; anything else is a defect and keeps its stack.
    console.error(error instanceof StartError || error instanceof OperatorError ? `atrium: ${error.message}` : error)
    process.exit(1)
  }
}
