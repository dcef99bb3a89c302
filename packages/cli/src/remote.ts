/**
 * The command line as an npm package: the commands that work from another machine than the server's.
 * scripts/pack/packages.ts bundles it into one file.
 */
import { addAuditCommands } from './add-audit-commands.ts'
import { addLeaks } from './add-leaks.ts'
import { addListen } from './add-listen.ts'
import { addLogCommands } from './add-log-commands.ts'
import { addMcp } from './add-mcp.ts'
import { addOperatorCommands } from './add-operator-commands.ts'
import { addVerify } from './add-verify.ts'
import { OperatorError } from './operator-api.ts'
import { makeProgram, runProgram } from './program.ts'

const program = makeProgram('Operates an Atrium installation from elsewhere, and verifies Space services')
for (const name of ['start', 'api', 'worker', 'space', 'migrate', 'backup', 'restore']) {
  program
    .command(name, { hidden: name !== 'start' })
    .description('run the server; this needs a release of Atrium or its source')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      throw new OperatorError(
        `this package does not contain the server. Unpack a release of Atrium or check out its source, and run there: npm ci && npm ${name === 'start' ? 'start' : `run -s atrium -- ${name}`}`,
      )
    })
}
addOperatorCommands(program)
addAuditCommands(program)
addVerify(program)
addLogCommands(program)
addLeaks(program)
addListen(program)
addMcp(program)
await runProgram(program)
