import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Deadline } from './deadline.ts'
import { runProgram } from './run-program.ts'
import { sandboxes } from './sandbox.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-verify-sandbox-')))
const secret = join(mkdtempSync(join(homedir(), '.atrium-verify-sandbox-')), 'secret')
writeFileSync(secret, 'a secret')
let connections = 0
const server = createServer((_req, res) => void res.end())
server.on('connection', () => connections++)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.env['ATRIUM_TEST_SECRET'] = 'a secret'
after(() => {
  server.close()
  rmSync(folder, { recursive: true })
  rmSync(join(secret, '..'), { recursive: true })
})

/** A hostile build. */
const hostileBuild = `
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
const attempt = async (work) => { try { return String(await work()) } catch (error) { return 'failed: ' + (error.cause?.code ?? error.code ?? error.message) } }
writeFileSync('result.json', JSON.stringify({
  network: await attempt(() => fetch('http://127.0.0.1:${(server.address() as AddressInfo).port}')),
  file: await attempt(() => readFileSync(${JSON.stringify(secret)})),
  home: await attempt(() => readdirSync(${JSON.stringify(homedir())})),
  write: await attempt(() => writeFileSync('/usr/atrium-verify', '')),
  processes: await attempt(() => readFileSync('/proc/${process.pid}/environ')),
  secret: process.env.ATRIUM_TEST_SECRET ?? 'none',
  own: readFileSync('own.txt', 'utf8'),
}))`
writeFileSync(join(folder, 'build.mjs'), hostileBuild)
writeFileSync(join(folder, 'own.txt'), 'own')

const packageOf: Record<string, string> = { docker: 'docker.io' }

for (const [name, open] of Object.entries(sandboxes)) {
  test(`a build in ${name} has its folder, and no network, no other files, no variables and no other processes`, async (t) => {
    const sandbox = await open(new Deadline(300).signal).catch(() => undefined)
    if (!sandbox) return t.skip(`apt-get install ${packageOf[name] ?? name}, on a machine that lets it make namespaces`)
    try {
      await runProgram('the build', sandbox.program('node build.mjs', folder), new Deadline(60))
    } finally {
      await sandbox.close()
    }
    const { own, secret, ...attempts } = JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8')) as Record<string, string>
    assert.equal(own, 'own')
    assert.equal(secret, 'none')
    for (const [what, outcome] of Object.entries(attempts)) assert.match(outcome, /^failed: E[A-Z]+$/, what)
    assert.equal(connections, 0)
  })

  test(`what a build in ${name} leaves running ends with it, and a build that never ends at the deadline`, async (t) => {
    const sandbox = await open(new Deadline(300).signal).catch(() => undefined)
    if (!sandbox) return t.skip(`apt-get install ${packageOf[name] ?? name}, on a machine that lets it make namespaces`)
    const started = performance.now()
    try {
      await assert.rejects(runProgram('the build', sandbox.program('sleep 300 & sleep 300', folder), new Deadline(1)), {
        name: 'DeadlinePassed',
      })
    } finally {
      await sandbox.close()
    }
    assert.ok(performance.now() - started < 30_000)
  })
}
