import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

interface AcceptanceOptions {
  /** The command that runs the given one in another place, such as a network namespace. */
  within?: (command: readonly string[]) => string[]
  /** The beginnings of the names of the tests to run. */
  only?: readonly string[]
  env?: Readonly<Record<string, string>>
}

/** Runs the acceptance tests against an installation that runs already, with `adminToken`. Fails with their report. */
export async function runAcceptance(origin: string, said: () => string, options: AcceptanceOptions = {}): Promise<void> {
  const { within = (command) => [...command], only = [], env: given } = options
  // Node's test runner does not start within itself.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const patterns = only.map((name) => `--test-name-pattern=${name}`)
  const [program = '', ...args] = within([process.execPath, '--test', ...patterns, 'tests/acceptance.test.ts'])
  const tests = spawn(program, args, {
    cwd: root,
    env: { ...env, ...given, ATRIUM_TEST_ORIGIN: origin },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let report = ''
  for (const stream of [tests.stdout, tests.stderr]) stream.on('data', (chunk) => (report += chunk))
  const code = await new Promise((resolve) => tests.once('close', resolve))
  assert.equal(code, 0, `${report}\n${said().slice(-4_000)}`)
  const passed = Number(/pass (\d+)/.exec(report)?.[1])
  assert.ok(passed >= Math.max(1, only.length), report)
}
