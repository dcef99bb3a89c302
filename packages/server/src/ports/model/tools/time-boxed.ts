import { createContext, Script } from 'node:vm'

const context = createContext({ run: (): unknown => undefined })
const script = new Script('run()')

/**
 * Runs a function and interrupts it when its time is up: then it throws. For rules that a tenant wrote, such as a
 * pattern of a JSON Schema: one that backtracks without end would block every session of this process.
 */
export function timeBoxed<T>(timeoutMs: number, run: () => T): T {
  context.run = run
  return script.runInContext(context, { timeout: timeoutMs }) as T
}
