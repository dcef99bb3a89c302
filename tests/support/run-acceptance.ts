import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** Runs the acceptance tests against an installation that runs already, with `adminToken`. Fails with their report. */
export async function runAcceptance(origin: string, said: () => string): Promise<void> {
  // Node's test runner does not start within itself.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const tests = spawn(process.execPath, ['--test', 'tests/acceptance.test.ts'], {
    cwd: root,
    env: { ...env, ATRIUM_TEST_ORIGIN: origin },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let report = ''
  for (const stream of [tests.stdout, tests.stderr]) stream.on('data', (chunk) => (report += chunk))
  const code = await new Promise((resolve) => tests.once('close', resolve))
  assert.equal(code, 0, `${report}\n${said().slice(-4_000)}`)
  assert.match(report, /pass [1-9]\d*/)
}
