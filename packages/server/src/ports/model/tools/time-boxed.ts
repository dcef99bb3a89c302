import { createContext, Script } from 'node:vm'

const context = createContext({ run: (): unknown => undefined })
const script = new Script('run()')
const maxTries = 5

/**
 * Runs a function and interrupts it when its time is up: then it throws. For rules that a tenant wrote, such as a
 * pattern of a JSON Schema: one that backtracks without end would block every session of this process. The limit is
 * wall-clock time, which also passes while a busy machine runs other processes. So if all tries together have used
 * less than half of the limit as processor time, the function is run again, at most five times in all. It must have no
 * side effects.
 */
export function timeBoxed<T>(timeoutMs: number, run: () => T): T {
  context.run = run
  const startedAt = processorMs()
  for (let tries = 1; ; tries++)
    try {
      return script.runInContext(context, { timeout: timeoutMs }) as T
    } catch (error) {
      // The error is of the realm of the context, so it is no `Error` of this one.
      const isTimeout = (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
      if (!isTimeout || tries === maxTries || processorMs() - startedAt >= timeoutMs / 2) throw error
    }
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
