import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { skipWithout } from '../../../../tests/support/skip-without.ts'
import { json, secret, startStubService, type StubService } from './testing/stub-service.ts'

const skip = skipWithout('openssl', 'jose', 'curl', 'tar')

const page = readFileSync(new URL('../../../../docs/verification.md', import.meta.url), 'utf8')
const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('\n')

let stub: StubService
let folder = ''
beforeEach(async () => {
  stub = await startStubService()
  folder = mkdtempSync(join(tmpdir(), 'atrium-verification-'))
})
afterEach(() => {
  stub.close()
  rmSync(folder, { recursive: true })
})

function runPage(): Promise<{ code: number; output: string }> {
  const env = { ...process.env, SPACES: stub.origin, ROOM: secret.room, MK: secret.mk }
  return new Promise((resolve) => {
    execFile('bash', ['-euo', 'pipefail', '-c', commands], { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    )
  })
}

test('every command of docs/verification.md runs, and finds a good service good', { skip }, async () => {
  const { code, output } = await runPage()
  assert.equal(code, 0, output)
  assert.equal(output.match(/Verified OK/g)?.length, 3)
  assert.equal(output.match(/^(?:source\.tar\.gz|source\/.*space\.mjs|lines\.txt): OK$/gm)?.length, 3)
  assert.ok(output.includes(stub.certificate.keyThumbprint))
  assert.match(output, /words of three/)
  assert.ok(!output.includes('DIFFERENT'))
  assert.ok(!stub.received.some((request) => request.includes(secret.mk)))
})

const broken: readonly [string, () => unknown, RegExp][] = [
  ['certificate', () => alter('GET /cert.json', (text) => text.replace('postgres', 'postgrey')), /Verification failure/],
  ['source', () => alter('GET /source.tar.gz', (text) => text.replace('node build.mjs', 'node other.mjs')), /FAILED/],
  ['attest', () => (stub.answers['attest'] = json(stub.certificate.attest('old'))), /DIFFERENT/],
  ['page', () => alter('GET /space', (text) => text.replace('<body>', '<body> ')), /DIFFERENT/],
  ['script', () => alter('GET /space/assets/app-1.js', (text) => text.replace('app', 'App')), /DIFFERENT/],
  ['file', () => alter('GET /space/assets/client-0123456789abcdef.html', (text) => `${text} `), /DIFFERENT/],
  ['room', () => stub.store(stub.lines.toSpliced(1, 1)), /DIFFERENT/],
  [
    'line',
    () => stub.store(stub.lines.map((line, i) => (i === 3 ? line.replace('"tag":"', '"tag":"A') : line))),
    /^(?![\s\S]*history ends)/,
  ],
]

for (const [what, breakIt, said] of broken) {
  test(`a ${what} that is altered ends it`, { skip }, async () => {
    breakIt()
    const { code, output } = await runPage()
    assert.notEqual(code, 0, output)
    assert.match(output, said)
  })
}

function alter(path: string, change: (text: string) => string): void {
  const answer = stub.answers[path]
  assert.ok(typeof answer === 'object')
  const body = Buffer.from(answer.body).toString('latin1')
  assert.notEqual(change(body), body)
  stub.answers[path] = { ...answer, body: Buffer.from(change(body), 'latin1') }
}
