import assert from 'node:assert/strict'
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeSource, secret, startStubService, type StubService } from './testing/stub-service.ts'

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

for (const hanging of ['npm', 'docker']) {
  test(`Ctrl-C during the rebuild ends ${hanging}, which it started, and removes its folder`, async (t) => {
    if (hanging === 'docker' && process.platform !== 'linux') return t.skip('a sandbox is only used on Linux')
    const [bin, temporary] = [mkdtempSync(join(folder, 'bin-')), mkdtempSync(join(folder, 'tmp-'))]
    const pidFile = join(bin, 'pid')
    // Without another sandbox, docker is asked.
    if (hanging === 'docker')
      for (const other of ['bwrap', 'podman']) writeFileSync(join(bin, other), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    writeFileSync(join(bin, hanging), `#!/bin/sh\necho $$ > ${pidFile}.new && mv ${pidFile}.new ${pidFile}\nexec sleep 300\n`, {
      mode: 0o755,
    })
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, TMPDIR: temporary }
    const child = spawn(process.execPath, [file, stub.origin, '--rebuild'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    for (let i = 0; !existsSync(pidFile) && i < 400; i++) await delay(50)
    const pid = Number(readFileSync(pidFile, 'utf8'))
    t.after(() => isRunning(pid) && process.kill(pid))
    child.kill('SIGINT')
    // A docker that hangs is given up after a minute anyway.
    const [code] = await once(child, 'close', { signal: AbortSignal.timeout(40_000) })
    assert.equal(code, 1)
    assert.match(output, /^FAILED +the checks: stopped during rebuilding the source; what is not listed above was not checked$/m)
    assert.deepEqual(readdirSync(temporary), [])
    assert.equal(isRunning(pid), false)
  })
}

test('what a build leaves running in a session of its own does not keep the check from ending', async (t) => {
  const bin = mkdtempSync(join(folder, 'bin-'))
  const pidFile = join(bin, 'pid')
  for (const sandbox of ['bwrap', 'podman', 'docker']) writeFileSync(join(bin, sandbox), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const build = `import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
mkdirSync('packages/space/dist', { recursive: true })
copyFileSync('code.txt', 'packages/space/dist/space.mjs')
const left = spawn('sleep', ['300'], { detached: true, stdio: 'inherit' })
writeFileSync(${JSON.stringify(pidFile)}, String(left.pid))
left.unref()`
  const leaving = await startStubService()
  t.after(() => leaving.close())
  leaving.certify({ sourceArchive: makeSource(leaving.build.functionCode, { 'build.mjs': build }) })
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` }
  const child = spawn(process.execPath, [file, leaving.origin, '--rebuild'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'close', { signal: AbortSignal.timeout(60_000) })
  for (let i = 0; !existsSync(pidFile) && i < 1_000; i++) await delay(50)
  const pid = Number(readFileSync(pidFile, 'utf8'))
  t.after(() => isRunning(pid) && process.kill(pid))
  const [code] = await ended
  assert.equal(code, 0, output)
  assert.ok(isRunning(pid), 'it did not wait for it')
})

const cli = fileURLToPath(new URL('../atrium.ts', import.meta.url))
for (const [name, program] of [
  ['the file', [file]],
  ['atrium', [cli, 'verify']],
] as const) {
  test(`when nobody reads its output any more, ${name} ends without a stack and removes the folder of the rebuild`, async () => {
    const [bin, temporary] = [mkdtempSync(join(folder, 'bin-')), mkdtempSync(join(folder, 'tmp-'))]
    const [begun, goOn] = [join(bin, 'begun'), join(bin, 'go-on')]
    const path = process.env['PATH']
    const npm = `#!/bin/sh\ntouch ${begun}\nwhile [ ! -e ${goOn} ]; do sleep 0.05; done\nPATH='${path}' exec npm "$@"\n`
    writeFileSync(join(bin, 'npm'), npm, { mode: 0o755 })
    const env = { ...process.env, PATH: `${bin}:${path}`, TMPDIR: temporary }
    const child = spawn(process.execPath, [...program, stub.origin, '--rebuild'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let errors = ''
    child.stderr.on('data', (chunk) => (errors += chunk))
    child.stdout.resume()
    for (let i = 0; !existsSync(begun) && i < 400; i++) await delay(50)
    child.stdout.destroy()
    writeFileSync(goOn, '')
    const [code] = await once(child, 'close')
    // npm has a cache of its own there.
    const left = readdirSync(temporary).filter((entry) => entry.startsWith('atrium-'))
    assert.deepEqual({ code, errors, left }, { code: 141, errors: '', left: [] })
  })
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('exit codes: 1 when a check failed, 2 when it cannot start', async () => {
  for (const other of ['A'.repeat(43), `-${'A'.repeat(42)}`, `--${'A'.repeat(41)}`]) {
    const { code, stdout, stderr } = await run(process.execPath, [stub.origin, '--pin', other])
    assert.equal(code, 1, other + stderr)
    assert.match(stdout, /^FAILED +the pin: /m)
  }
  for (const args of [[], ['x', 'y'], ['--nonsense'], ['nothing'], [stub.origin, '--pin', 'x']]) {
    assert.equal((await run(process.execPath, args)).code, 2, args.join(' '))
  }
})
