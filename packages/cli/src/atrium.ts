import { addAuditCommands } from './add-audit-commands.ts'
import { addKeys } from './add-keys.ts'
import { addLeaks } from './add-leaks.ts'
import { addListen } from './add-listen.ts'
import { addLogCommands } from './add-log-commands.ts'
import { addMcp } from './add-mcp.ts'
import { addOperatorCommands } from './add-operator-commands.ts'
import { addVerify } from './add-verify.ts'
import { makeProgram, runProgram } from './program.ts'
import { addServerCommands } from './server-commands.ts'

const program = makeProgram("A self-hosted platform that other people's apps are built on")
addServerCommands(program)
addOperatorCommands(program)
addAuditCommands(program)
addVerify(program)
addLogCommands(program)
addKeys(program)
addLeaks(program)
addListen(program)
addMcp(program)
await runProgram(program)
