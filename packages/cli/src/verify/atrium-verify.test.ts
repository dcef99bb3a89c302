import assert from 'node:assert/strict'
import { type ChildProcess, execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { secret, startStubService, type StubService } from './testing/stub-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'atrium-verify-alone-'))
const file = join(folder, 'atrium-verify.mjs')
let stub: StubService

before(async () => {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../build/build-verify.ts', import.meta.url)), file])
  stub = await startStubService()
})
after(() => {
  stub.close()
  rmSync(folder, { recursive: true })
})

/** The Node of the machine, which may be much older than this one; else this one. */
function findNodes(): string[] {
  return [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter((path) => {
    try {
      return Number(/^v(\d+)/.exec(execFileSync(path, ['--version'], { stdio: 'pipe' }).toString())?.[1]) >= 20
    } catch {
      return false
    }
  })
}

function run(node: string, args: string[], input = ''): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child: ChildProcess = execFile(node, [file, ...args], { cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}

const link = () => `${stub.origin}/space#${secret.room}.${secret.mk}`

test('the file imports only modules of Node', () => {
  const imports = [...readFileSync(file, 'utf8').matchAll(/^import .*?from ["']([^"']+)["']|\bimport\(["']([^"']+)/gm)]
  assert.ok(imports.length > 3)
  for (const [, from, dynamic] of imports) assert.ok(builtinModules.includes((from ?? dynamic)!.replace('node:', '')), from)
})

for (const node of findNodes()) {
  test(`alone in a folder it checks service and room, with ${node}`, async () => {
    const { code, stdout } = await run(node, [link(), '--pin', stub.certificate.keyThumbprint, '--rebuild'])
    assert.equal(code, 0, stdout)
    assert.match(stdout, /^proved .*opens every line: 3 messages/m)
    assert.match(stdout, /Nothing failed\.\n$/)
  })
}

test('the link can come from standard input', async () => {
  const { code, stdout } = await run(process.execPath, ['-'], `${link()}\n`)
  assert.equal(code, 0, stdout)
  assert.match(stdout, /opens every line/)
})

test('exit codes: 1 when a check failed, 2 when it cannot start', async () => {
  assert.equal((await run(process.execPath, [stub.origin, '--pin', 'A'.repeat(43)])).code, 1)
  for (const args of [[], ['x', 'y'], ['--nonsense'], ['nothing'], [stub.origin, '--pin', 'x']]) {
    assert.equal((await run(process.execPath, args)).code, 2, args.join(' '))
  }
})
