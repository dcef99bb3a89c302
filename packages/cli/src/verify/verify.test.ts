import assert from 'node:assert/strict'
import { createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { afterEach, beforeEach, test } from 'node:test'
import { makeCertificate } from '@atrium/space/certificate/certificate'
import { json, makeRecords, makeSource, policy, sealAll, sealedAnswer, secret, startStubService } from './testing/stub-service.ts'
import type { StubService } from './testing/stub-service.ts'
import { verify, type VerifyOptions } from './verify.ts'

let stub: StubService
beforeEach(async () => {
  stub = await startStubService()
})
afterEach(() => stub.close())

type Cases = readonly (readonly [name: string, breakIt: () => unknown, said: RegExp])[]

const link = () => `${stub.origin}/space#${secret.room}.${secret.mk}`

async function run(url: string, options: VerifyOptions = {}): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = []
  const code = await verify(url, { ...options, write: (line) => lines.push(line) })
  return { code, lines }
}

test('for a valid service and room, everything provable is proved and the rest is listed', async () => {
  const { code, lines } = await run(link(), { pin: stub.certificate.keyThumbprint, rebuild: true })
  assert.equal(code, 0, lines.join('\n'))
  // The sandbox depends on the machine and is tested in sandbox.test.ts.
  const verdicts = lines.filter((line) => !line.includes('the build ran in')).map((line) => line.slice(0, 11).trim())
  assert.equal(verdicts.filter((verdict) => verdict === 'proved').length, 9, lines.join('\n'))
  assert.ok(lines.some((line) => /^trusted .*process which answers runs the certified code/.test(line)))
  assert.ok(lines.some((line) => /^proved .*opens every line: 3 messages, open to anyone/.test(line)))
})

test('without --pin and --rebuild, their checks are reported as not checked, without a failure', async () => {
  const { code, lines } = await run(stub.origin)
  assert.equal(code, 0, lines.join('\n'))
  for (const words of [/^not checked .*whose key/, /^not checked .*source makes/, /^not checked .*page and its 1 scripts/]) {
    assert.ok(
      lines.some((line) => words.test(line)),
      String(words),
    )
  }
  assert.ok(!lines.some((line) => line.includes('lantern')))
})

test('the room key is neither sent nor printed', async () => {
  const { lines } = await run(link(), { rebuild: true })
  const all = [...stub.received, ...lines].join('\n')
  for (const form of [
    secret.mk,
    Buffer.from(secret.mk).toString('hex'),
    Buffer.from(secret.mk).toString('base64').slice(0, 40),
  ]) {
    assert.ok(!all.includes(form))
  }
  assert.ok(stub.received.some((request) => request.includes('"op":"sealed"')))
})

const page = () => Buffer.from(stub.build.app[0]!.body).toString()
const cert = () => stub.certificate.cert
const flip = (text: string) => `${text.slice(0, 40)}${text[40] === 'A' ? 'B' : 'A'}${text.slice(41)}`
const serve = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) => {
  stub.answers[path] = { body, headers }
}
const html = { 'content-type': 'text/html; charset=utf-8' }
const servePage = (text: string, csp = policy()) => serve('GET /space', text, { ...html, 'content-security-policy': csp })
const serveWith = (change: (directives: Record<string, string>) => void) => servePage(page(), policy(change))
const serveCert = (change: object) => void (stub.answers['GET /cert.json'] = json({ ...cert(), ...change }))
/** Another text with a valid signature. */
const serveText = (signed: string) => {
  const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const sig = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  serveCert({ signed, sig, pubkey: createPublicKey(key).export({ format: 'jwk' }) })
}
const serveSigned = (change: object) => serveText(JSON.stringify({ ...(JSON.parse(cert().signed) as object), ...change }))
const serveAttest = (change: (answer: Record<string, unknown>) => object) => {
  stub.answers['attest'] = ({ nonce }) => json(change({ ...stub.certificate.attest(nonce as string) }))
}
const serveSealed = (change: object) => {
  stub.answers['sealed'] = json({ ...sealedAnswer(stub.lines.join('\n')), ...change })
}
const serveSource = (files: Record<string, string>) => stub.certify({ sourceArchive: makeSource(stub.build.functionCode, files) })
/** A certificate of the same build by another key. */
const another = () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return makeCertificate({ build: stub.build, signingKey: privateKey, service: 'atrium-space', egress: [] })
}
const old = () => stub.certificate.attest('old')

const certificateCases: Cases = [
  ['a byte of the text', () => serveCert({ signed: flip(cert().signed) }), /certificate: the signature/],
  ['a byte of the signature', () => serveCert({ sig: flip(cert().sig) }), /certificate: the signature/],
  ['another key', () => serveCert({ pubkey: another().cert.pubkey }), /certificate: the signature/],
  ['a whole one by another key', () => serveCert(another().cert), /pin: the certificate is signed by .*announces the new one/],
  ['another algorithm', () => serveCert({ alg: 'none' }), /not signed with ES256/],
  ['a private key shown', () => serveCert({ pubkey: { ...cert().pubkey, d: 'x' } }), /public part/],
  ['an attestation in its place', () => serveCert({ ...old() }), /must contain v, service/],
  ['no signature', () => serveCert({ sig: 5 }), /lacks signed or sig/],
  ['no text', () => serveCert({ signed: [cert().signed] }), /lacks signed or sig/],
  ['well signed, of another version', () => serveSigned({ v: 2 }), /version of the signed text is not supported/],
  ['well signed, with a commit that is no text', () => serveSigned({ gitCommit: 5 }), /must be text/],
  ['well signed, with a hash that is none', () => serveSigned({ functionCodeSha256: 'x' }), /hashes must be SHA-256/],
  ['well signed, with a hash of another spelling', () => serveSigned({ sourceSha256: 'A'.repeat(43) }), /hashes must be SHA-256/],
  ['well signed, with egress that is no list', () => serveSigned({ egress: 'https://x' }), /egress must be a list/],
  ['well signed, with something more', () => serveSigned({ more: 1 }), /must contain v, service/],
  ['well signed, with a member twice', () => serveText(`{"v":1,${cert().signed.slice(1)}`), /must contain v, service/],
  ['not JSON', () => serve('GET /cert.json', 'x'), /certificate: .*JSON/],
  ['too long', () => serve('GET /cert.json', `"${'x'.repeat(70_000)}"`), /more than 65536/],
  ['a redirect', () => redirect('GET /cert.json'), /redirect/],
]
const sourceCases: Cases = [
  ['a byte', () => serve('GET /source.tar.gz', flipByte(stub.build.sourceArchive)), /source: its SHA/],
  ['missing', () => delete stub.answers['GET /source.tar.gz'], /source: .*404/],
  ['of another commit', () => stub.certify({ gitCommit: 'f'.repeat(40) }), /source: it names another commit/],
  ['a file that steers npm', () => serveSource({ '.npmrc': 'script-shell=evil' }), /\.npmrc": not a name/],
]
const attestCases: Cases = [
  [
    'another commit',
    () => serveAttest((answer) => ({ ...answer, gitCommit: 'f'.repeat(40) })),
    /attest: it names another commit/,
  ],
  ['another service', () => serveAttest((answer) => ({ ...answer, service: 'x' })), /attest: it names another service/],
  ['another runtime', () => serveAttest((answer) => ({ ...answer, runtime: 'bun' })), /attest: the signed text/],
  ['unsigned', () => serveAttest(({ signed: _signed, ...answer }) => answer), /attest: it is not signed/],
  ['by another key', () => attestBy(another()), /attest: the signature is not by the certificate's key$/],
  [
    'by another key, whose certificate another process shows',
    () => replaceKey(),
    /attest: the signature is not by the certificate's key but by [\w-]{43}, of which the service also shows a certificate/,
  ],
  ['an old answer', () => serveAttest(() => old()), /attest: .*another nonce/],
  [
    'the certificate in its place',
    () => serveAttest((answer) => ({ ...answer, signed: cert().signed, sig: cert().sig })),
    /attest: the signed text must contain/,
  ],
]
const evilHash = createHash('sha256').update('evil()').digest('base64')
const pageCases: Cases = [
  ['no policy', () => serve('GET /space', page(), html), /Policy: default-src is missing/],
  ['two policies', () => servePage(page(), `${policy()}, ${policy()}`), /one policy/],
  ['a directive twice', () => servePage(page(), `${policy()}; script-src *`), /one policy/],
  ['unsafe-inline', () => serveWith((d) => (d['script-src'] += " 'unsafe-inline'")), /script-src allows 'unsafe-inline'/],
  ['unsafe-eval', () => serveWith((d) => (d['script-src'] += " 'unsafe-eval'")), /script-src allows 'unsafe-eval'/],
  ['scripts from elsewhere', () => serveWith((d) => (d['script-src'] += ' https://cdn.example')), /script-src allows https:/],
  ['script elements from elsewhere', () => serveWith((d) => (d['script-src-elem'] = '*')), /script-src-elem allows \*/],
  ['a hash of no script', () => serveWith((d) => (d['script-src'] += ` 'sha256-${evilHash}'`)), /allows an inline script/],
  [
    'talks to elsewhere',
    () => serveWith((d) => (d['connect-src'] += ' https://evil.example')),
    /connect-src allows https:\/\/evil/,
  ],
  ['talks to anywhere', () => serveWith((d) => (d['connect-src'] += ' https:')), /connect-src allows https:/],
  ['talks to subdomains', () => serveWith((d) => (d['connect-src'] += ' https://*.api.example')), /connect-src allows/],
  ['images from elsewhere', () => serveWith((d) => (d['img-src'] += ' https://t.example')), /img-src allows/],
  ['no base-uri', () => serveWith((d) => delete d['base-uri']), /base-uri is missing/],
  ['no form-action', () => serveWith((d) => delete d['form-action']), /form-action is missing/],
  ['no script-src', () => serveWith((d) => delete d['script-src']), /script-src is missing/],
  ['framed by anyone', () => serveWith((d) => (d['frame-ancestors'] = '*')), /frame-ancestors must be/],
  ['no trusted types', () => serveWith((d) => delete d['require-trusted-types-for']), /require-trusted-types-for is missing/],
  ['reports elsewhere', () => serveWith((d) => (d['report-uri'] = 'https://evil.example')), /report-uri is not a known/],
  ['an inline script more', () => servePage(page().replace('</head>', '<script>evil()</script>')), /is not in the policy/],
  ['a script from elsewhere', () => servePage(page().replace('/space/assets/', 'https://evil.example/')), /not its own/],
  ['config without addresses', () => serve('GET /space-config', '{"api_url":"here"}'), /names no address/],
  ['config that is no JSON', () => serve('GET /space-config', ''), /space-config/],
]
const rebuildCases: Cases = [
  [
    'another code',
    () => stub.certify({ sourceArchive: makeSource(Buffer.from('other')) }),
    /rebuilding the source: it makes code/,
  ],
  ['code without the app', () => certifyCode('var app = 1\n'), /app cannot be found in the certified code/],
  ['a build that fails', () => serveSource({ 'build.mjs': 'throw 1' }), /npm run build failed/],
  [
    'a package from elsewhere',
    () => serveSource({ 'package-lock.json': lockWith({ resolved: 'https://evil.example/x', integrity: 'sha512-x' }) }),
    /does not pin node_modules\/x/,
  ],
  ['a package without a hash', () => serveSource({ 'package-lock.json': lockWith({}) }), /does not pin node_modules\/x/],
  [
    'a link out of the source',
    () => serveSource({ 'package-lock.json': lockWith({ link: true, resolved: '../../evil' }) }),
    /links node_modules\/x to a package that is not/,
  ],
  ['a script that is not certified', () => servePage(page().replace('app-1.js', 'app-2.js')), /not in the certified code/],
  ['a byte of the page', () => servePage(page().replace('<body>', '<body> ')), /\/space is served with other bytes/],
  [
    'a byte of a script',
    () => serve('GET /space/assets/app-1.js', 'console.log("App")\n'),
    /app-1.js is served with other bytes/,
  ],
]
const roomCases: Cases = [
  ['unknown', () => delete stub.answers['sealed'], /room lantern-night: .*404/],
  ['not sealed', () => serveSealed({ alg: 'none' }), /not sealed with A256GCM/],
  ['another length', () => serveSealed({ bytes: 5 }), /differs from its field bytes/],
  ['another hash', () => serveSealed({ sha256: '0'.repeat(64) }), /differs from its field sha256/],
  ['an operator who can read', () => serveSealed({ recipients: ['admin', 'room'] }), /others than the room/],
  [
    'an operator who can read, not named in the answer',
    () => stub.store(stub.lines.map((line) => line.replace('"kid":"room"', '"kid":"admin"'))),
    /line 0 does not follow \(form\)/,
  ],
  ['a line missing', () => stub.store(stub.lines.toSpliced(1, 1)), /line 1 does not follow/],
  ['the first line missing', () => stub.store(stub.lines.slice(1)), /line 0 does not follow/],
  ['lines exchanged', () => stub.store([0, 2, 1, 3].map((i) => stub.lines[i]!)), /line 1 does not follow/],
  ['empty', () => stub.store([]), /line 0 does not follow/],
  ['the last line altered', () => stub.store(stub.lines.with(3, flipAt('tag', stub.lines.at(-1)!))), /line 3 was altered/],
  ['an earlier line altered', () => stub.store(stub.lines.with(1, flipAt('tag', stub.lines[1]!))), /line 2 does not follow/],
  ['sealed for another key', () => stub.store([flipAt('encrypted_key', stub.lines[0]!)]), /does not open line 0/],
  ['no record', () => stub.store(sealAll(['{}'])), /is not a record/],
  ['no policy', () => stub.store(sealAll(makeRecords().slice(1))), /line 0 does not say/],
]

for (const [subject, cases, isRebuild] of [
  ['certificate', certificateCases, false],
  ['source', sourceCases, false],
  ['attest', attestCases, false],
  ['page', pageCases, false],
  ['rebuild', rebuildCases, true],
  ['room', roomCases, false],
] as const) {
  for (const [name, breakIt, said] of cases) {
    test(`FAILED: ${subject}: ${name}`, async () => {
      const pin = stub.certificate.keyThumbprint
      breakIt()
      const { code, lines } = await run(subject === 'room' ? link() : stub.origin, { pin, rebuild: isRebuild })
      assert.equal(code, 1, lines.join('\n'))
      assert.ok(
        lines.some((line) => line.startsWith('FAILED') && said.test(line)),
        lines.join('\n'),
      )
    })
  }
}

test('control characters of a server do not reach the terminal', async () => {
  const evil = '\u001b[2J\u001b]0;owned\u0007\nproved       everything\u202e\u2028\u0000'
  stub.answers['GET /space'] = {
    headers: { ...html, 'content-security-policy': policy((d) => (d['img-src'] += ' https://x')) },
    body: '',
  }
  stub.answers['sealed'] = json({ ...sealedAnswer(stub.lines.join('\n')), recipients: [evil] })
  stub.answers['GET /space-config'] = json({ api_url: `https://api.example/${evil}`, identity: null })
  stub.certify({ gitCommit: evil, sourceArchive: makeSource(stub.build.functionCode, { COMMIT: evil.trim() }) })
  const { code, lines } = await run(link())
  assert.equal(code, 1)
  for (const line of lines) assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  assert.ok(!lines.some((line) => line.startsWith('proved       everything')))
})

test('an invalid address, a truncated link and an invalid pin fail before anything is sent, and are not quoted', async () => {
  const bad = [
    '',
    'x',
    'ftp://x',
    'http://u:p@127.0.0.1',
    `${stub.origin}/other`,
    `${stub.origin}/space#lantern-night`,
    link().slice(0, -30),
  ]
  for (const url of bad) {
    const { code, lines } = await run(url)
    assert.equal(code, 2)
    assert.match(lines.join(), /^cannot begin: /)
    assert.ok(!lines.join().includes('lantern'))
  }
  assert.equal((await run(stub.origin, { pin: 'short' })).code, 2)
  assert.deepEqual(stub.received, [])
})

test('a service that cannot be reached fails', async () => {
  stub.close()
  const { code, lines } = await run(link())
  assert.equal(code, 1)
  assert.ok(lines.some((line) => /FAILED .*ECONNREFUSED/.test(line)))
})

function flipByte(bytes: Uint8Array): Buffer {
  const flipped = Buffer.from(bytes)
  flipped[flipped.length - 2_000]! ^= 1
  return flipped
}

/** Changes the first character of a part of a line. */
function flipAt(part: string, line: string): string {
  return line.replace(new RegExp(`"${part}":"(.)`), (_all, first: string) => `"${part}":"${first === 'A' ? 'B' : 'A'}`)
}

function redirect(path: string): void {
  stub.answers[path] = { status: 302, headers: { location: `${stub.origin}/elsewhere` }, body: '' }
}

function certifyCode(code: string): void {
  const functionCode = Buffer.from(code)
  stub.certify({ functionCode, sourceArchive: makeSource(functionCode) })
}

function attestBy(certificate: ReturnType<typeof another>): void {
  stub.answers['attest'] = ({ nonce }) => json(certificate.attest(nonce as string))
}

/** Of two processes, one has the new key already. They answer in turn. */
function replaceKey(): void {
  const next = another()
  attestBy(next)
  let asked = 0
  stub.answers['GET /cert.json'] = () => json(asked++ % 2 === 0 ? cert() : next.cert)
}

function lockWith(entry: object): string {
  return JSON.stringify({ lockfileVersion: 3, packages: { '': {}, 'node_modules/x': { version: '1.0.0', ...entry } } })
}
