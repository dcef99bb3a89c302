import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { servedOperations } from '@atrium/contract/table'
import { skipWithout } from '../../../../../../tests/support/skip-without.ts'
import { samplesOf } from './samples.ts'

const root = fileURLToPath(new URL('../../../../../../', import.meta.url))
const run = promisify(execFile)
const settings = { publicUrl: 'https://api.example', publishableKey: 'wpk_…' }

test('the TypeScript examples of all operations compile against the client', { timeout: 120_000 }, async (t) => {
  // Inside the repository, where @atrium/client is found.
  const folder = join(root, `node_modules/.docs-samples-${process.pid}`)
  await mkdir(folder, { recursive: true })
  t.after(() => rm(folder, { recursive: true, force: true }))
  for (const op of servedOperations) await writeFile(join(folder, `${op.id}.mts`), `${samplesOf(op, settings)!.ts}\n`)
  const compilerOptions = { noUnusedLocals: false }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.mts'], exclude: [] }),
  )
  const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch((error: { stdout: string }) => error)
  assert.equal(stdout, '')
})

test('the shell reads each curl example as one command with the right arguments', async () => {
  for (const op of servedOperations) {
    const { stdout } = await run('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${samplesOf(op, settings)!.curl}`])
    const args = stdout.split('\0')
    assert.ok(
      args.some((arg) => arg.startsWith('https://api.example/')),
      op.id,
    )
    const body = args.indexOf('-d')
    if (body >= 0) assert.deepEqual(JSON.parse(args[body + 1]!), JSON.parse(JSON.stringify(op.example?.body)), op.id)
    assert.equal(args.includes('Idempotency-Key: 8e03978e-40d5-43dd-bc93-6894a57f9324'), op.idempotency !== undefined, op.id)
  }
})

const python = skipWithout('python3')

test(
  'the Python examples of all operations call methods of the client with arguments that they take',
  { skip: python },
  async () => {
    const samples = Object.fromEntries(servedOperations.map((op) => [op.id, samplesOf(op, settings)!.python]))
    const { stdout } = await run('python3', ['-c', bindCalls, JSON.stringify(samples)], {
      env: { ...process.env, PYTHONPATH: join(root, 'packages/python/src'), PYTHONDONTWRITEBYTECODE: '1' },
    })
    assert.deepEqual(JSON.parse(stdout), { bound: servedOperations.length })
  },
)

/** Runs each example with a client that checks the arguments of a call and sends nothing. */
const bindCalls = `
import inspect, json, sys
import atrium as package
from atrium import Atrium
bound = 0
class Binder:
    def __init__(self, *args, **named):
        inspect.signature(Atrium).bind(*args, **named)
    def __getattr__(self, name):
        def call(*args, **named):
            global bound
            inspect.signature(getattr(Atrium, name)).bind(self, *args, **named)
            bound += 1
        return call
package.Atrium = Binder
for name, source in json.loads(sys.argv[1]).items():
    exec(compile(source, name, "exec"), {})
print(json.dumps({"bound": bound}))
`
