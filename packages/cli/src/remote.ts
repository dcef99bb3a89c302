/**
 * The command line as a package: what works from another machine than the server's. scripts/pack/packages.ts makes one
 * file of it.
 */
import { addMcp } from './add-mcp.ts'
import { addOperatorCommands } from './add-operator-commands.ts'
import { addVerify } from './add-verify.ts'
import { OperatorError } from './operator-api.ts'
import { makeProgram, runProgram } from './program.ts'

const program = makeProgram('Operates an Atrium installation from elsewhere, and verifies Space services')
for (const name of ['start', 'api', 'worker', 'space']) {
  program
    .command(name, { hidden: name !== 'start' })
    .description('run the server: needs its source folder')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      throw new OperatorError(
        `this package has no server in it. Get the source folder of Atrium and run there: npm ci && npm ${name === 'start' ? 'start' : `run atrium ${name}`}`,
      )
    })
}
addOperatorCommands(program)
addVerify(program)
addMcp(program)
await runProgram(program)
