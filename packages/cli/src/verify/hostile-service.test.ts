import assert from 'node:assert/strict'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, test } from 'node:test'
import { passesOnce } from '../../../server/testing/busy-machine.ts'
import { makeSource, policy, secret, startStubService, type StubService } from './testing/stub-service.ts'
import { verify, type VerifyOptions } from './verify.ts'

let stub: StubService
beforeEach(async () => {
  stub = await startStubService()
})
afterEach(() => stub.close())

const link = () => `${stub.origin}/space#${secret.room}.${secret.mk}`

async function run(url: string, options: VerifyOptions = {}) {
  const lines: string[] = []
  const started = performance.now()
  const code = await verify(url, { ...options, write: (line) => lines.push(line) })
  return { code, lines, seconds: (performance.now() - started) / 1_000 }
}

function assertFailed({ code, lines }: { code: number; lines: string[] }, said: RegExp): void {
  assert.equal(code, 1, lines.join('\n'))
  assert.ok(
    lines.some((line) => line.startsWith('FAILED') && said.test(line)),
    lines.join('\n'),
  )
  for (const line of lines) assert.ok(line.length < 2_100 && !line.includes('\n'))
}

const html = { 'content-type': 'text/html; charset=utf-8' }
const serveHtml = (body: string) =>
  (stub.answers['GET /space'] = { headers: { ...html, 'content-security-policy': policy() }, body })

for (const part of ['<script>', '<script ', '<link ', '<!--', '<script x="']) {
  test(`600 KB of ${part} do not hold the check up`, async () => {
    serveHtml(part.repeat(600_000 / part.length))
    const outcome = await run(stub.origin)
    assertFailed(outcome, /reading the page|page's Content-Security-Policy/)
    assert.ok(outcome.seconds < 30, `${outcome.seconds} s`)
  })
}

test('a page in another encoding, and one that is none, fail', async () => {
  for (const type of ['text/html; charset=utf-7', 'text/html', 'text/plain; charset=utf-8']) {
    stub.answers['GET /space'] = { headers: { 'content-type': type }, body: '' }
    assertFailed(await run(stub.origin), /Content-Type must be/)
  }
  stub.answers['GET /space'] = { headers: html, body: Buffer.from([0xff, 0xfe]) }
  assertFailed(await run(stub.origin), /not UTF-8/)
})

const sealedText = (sealed: string) => ({
  body: `{"alg":"A256GCM","bytes":${sealed.length},"sha256":"${createHash('sha256').update(sealed).digest('hex')}","recipients":["room"],"sealed":${JSON.stringify(sealed)}}`,
})

const rooms: readonly (readonly [string, () => string | Uint8Array, RegExp])[] = [
  ['a list of millions as recipients', () => `{"recipients":[${'{},'.repeat(8_000_000)}{}]}`, /more than 100 members/],
  ['lists in lists without end', () => `{"recipients":${'['.repeat(16_000_000)}`, /more than 100 members/],
  ['more bytes than any answer', () => Buffer.alloc(129 * 1024 * 1024, 32), /more than 134217728 bytes/],
  ['millions of empty lines', () => sealedText('\n'.repeat(8_000_000)).body, /more than 100064 lines/],
  ['a line of 9 MiB', () => sealedText('['.repeat(9 * 1024 * 1024)).body, /line 0 is longer than any line/],
  ['100,000 lines that are none', () => sealedText('{}\n'.repeat(99_999)).body, /line 0 does not follow \(form\)/],
  ['the right recipients inside a list', () => sealedText('x').body.replace('["room"]', '[["room"]]'), /others than the room/],
]
for (const [name, body, said] of rooms) {
  test(`a room whose answer is ${name} fails in one line`, async () => {
    stub.answers['sealed'] = { body: body() }
    assertFailed(await run(link()), said)
  })
}

test('certified code without the page proves nothing of the page', async () => {
  const functionCode = Buffer.from('// embedded:atrium:embedded\nvar app = [];\n')
  stub.certify({ functionCode, sourceArchive: makeSource(functionCode) })
  const outcome = await run(stub.origin, { rebuild: true })
  assertFailed(outcome, /the certified code contains no files of the app/)
  assert.ok(!outcome.lines.some((line) => /^proved .*all its files/.test(line)))
})

const builds: readonly (readonly [string, string, RegExp])[] = [
  ['nothing', '', /makes no packages\/space\/dist\/space\.mjs/],
  ['a link', "await fs.symlink('/etc/passwd', out)", /a link/],
  ['a folder', 'await fs.mkdir(out)', /not a regular file/],
  ['a pipe', ";(await import('node:child_process')).execFileSync('mkfifo', [out])", /not a regular file/],
]
for (const [name, code, said] of builds) {
  test(`a build that makes ${name} in the place of the code fails`, async () => {
    const build = `import fs from 'node:fs/promises'
const out = 'packages/space/dist/space.mjs'
await fs.mkdir('packages/space/dist', { recursive: true })
${code}`
    stub.certify({ sourceArchive: makeSource(stub.build.functionCode, { 'build.mjs': build }) })
    assertFailed(await run(stub.origin, { rebuild: true }), said)
  })
}

test("the build does not see the caller's home", async () => {
  const build = `console.log('HOME is ' + process.env.HOME + ' ' + (process.env.NPM_TOKEN ?? '')); process.exit(1)`
  stub.certify({ sourceArchive: makeSource(stub.build.functionCode, { 'build.mjs': build }) })
  const { lines } = await run(stub.origin, { rebuild: true })
  const said = lines.find((line) => line.includes('HOME is'))
  assert.ok(said && !said.includes(`HOME is ${process.env['HOME']} `), lines.join('\n'))
})

test('a build that never ends fails at the deadline', async () => {
  stub.certify({ sourceArchive: makeSource(stub.build.functionCode, { 'build.mjs': 'setInterval(() => {}, 1000)' }) })
  // On a busy machine the limit may be exceeded before the build begins.
  await passesOnce(async (n) => {
    const seconds = 3 * n
    const outcome = await run(stub.origin, { rebuild: true, timeout: String(seconds) })
    const said = `the time limit: exceeded after ${seconds} s \\(--timeout\\), during rebuilding the source`
    assertFailed(outcome, new RegExp(said))
  })
})

/** A server with this answer, until the test ends. */
async function listen(answer: (res: ServerResponse) => void): Promise<{ server: Server; origin: string }> {
  const server = createServer((_req, res) => answer(res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const slow: readonly (readonly [string, (res: ServerResponse) => void])[] = [
  ['never answers', () => undefined],
  ['sends headers alone', (res) => res.writeHead(200).flushHeaders()],
  [
    'sends a byte now and then',
    (res) => {
      res.writeHead(200)
      const timer = setInterval(() => res.write(' '), 50)
      res.on('close', () => clearInterval(timer))
    },
  ],
]
for (const [name, answer] of slow) {
  test(`a service that ${name} fails the check when the time is over`, async () => {
    const { server, origin } = await listen(answer)
    try {
      const outcome = await run(origin, { timeout: '1' })
      assertFailed(outcome, /the time limit: exceeded after 1 s \(--timeout\), during the certificate/)
      assert.ok(outcome.seconds < 15, `${outcome.seconds} s`)
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
}

test('a timeout that is no number of seconds ends before anything is sent', async () => {
  for (const timeout of ['', '0', '-1', 'x', '1e9', '100000']) {
    const { code, lines } = await run(stub.origin, { timeout })
    assert.equal(code, 2)
    assert.match(lines.join(), /^cannot begin: --timeout/)
  }
  assert.deepEqual(stub.received, [])
})
