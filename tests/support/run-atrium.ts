import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const cli = fileURLToPath(new URL('../../packages/cli/src/atrium.ts', import.meta.url))

export interface AtriumRun {
  pid: number
  /** All that it printed so far. */
  output(): string
  /** The exit code; undefined if it has not ended by then. */
  ended(withinMs: number): Promise<number | null | undefined>
  kill(signal?: NodeJS.Signals): void
  /** Closes the pipe of its standard output, as `head` does. */
  closeOutput(): void
}

/** The folders of programs and of compiled modules. */
const passedOn = Object.fromEntries(
  ['PATH', 'NODE_COMPILE_CACHE'].flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
)

/**
 * Runs `atrium` with only the given environment, for starts that are expected to fail or that need no database. `stdout`
 * is a file descriptor; what goes there is not part of the output.
 */
export function runAtrium(args: string[], env: Record<string, string>, stdout: 'pipe' | number = 'pipe'): AtriumRun {
  const child = spawn(process.execPath, [cli, ...args], {
    stdio: ['ignore', stdout, 'pipe'],
    env: { ...passedOn, NODE_ENV: 'test', SPACE_PORT: '0', ...env },
  })
  let output = ''
  child.stdout?.on('data', (chunk) => (output += chunk))
  child.stderr?.on('data', (chunk) => (output += chunk))
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    pid: child.pid!,
    output: () => output,
    ended: async (withinMs) => {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), withinMs)))
      const code = await Promise.race([closed, late])
      clearTimeout(timer)
      return code
    },
    kill: (signal = 'SIGTERM') => child.kill(signal),
    closeOutput: () => child.stdout?.destroy(),
  }
}
