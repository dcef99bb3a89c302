import { addMcp } from './add-mcp.ts'
import { addOperatorCommands } from './add-operator-commands.ts'
import { addVerify } from './add-verify.ts'
import { keepCompiled } from './keep-compiled.ts'
import { makeProgram, runProgram } from './program.ts'
import { addServerCommands } from './server-commands.ts'

keepCompiled()

const program = makeProgram("A self-hosted platform that other people's apps are built on")
addServerCommands(program)
addOperatorCommands(program)
addVerify(program)
addMcp(program)
await runProgram(program)
