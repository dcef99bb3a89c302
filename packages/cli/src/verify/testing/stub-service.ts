import { createHash, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readAll } from 'node:stream/consumers'
import { lineHash, sealLine } from '@atrium/sealing/node-lines'
import { formatRecord } from '@atrium/sealing/records'
import { deriveRoomKey } from '@atrium/sealing/room-key'
import { type Certificate, makeCertificate } from '@atrium/space/certificate/certificate'
import type { SpaceBuild } from '@atrium/space/certificate/space-build'
import { makeArchive } from '../../../../space/build/archive.ts'

export const secret = { room: 'lantern-night', mk: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA' }
const gitCommit = '0123456789abcdef0123456789abcdef01234567'

interface Answer {
  status?: number
  headers?: Record<string, string>
  body: string | Uint8Array
}

/** The answers of the stub by method and path, or for POST /space by op. Tests replace single answers. */
type Answers = Record<string, Answer | ((body: Record<string, unknown>) => Answer)>

export interface StubService {
  readonly origin: string
  readonly certificate: Certificate
  readonly answers: Answers
  readonly lines: string[]
  readonly build: SpaceBuild
  /** Every received byte: request line, headers, body. */
  readonly received: string[]
  /** Signs a certificate for this build. */
  certify(build: Partial<SpaceBuild>): void
  /** Answers `sealed` with these lines and matching sizes and hashes. */
  store(lines: readonly string[]): void
  close(): void
}

const clientPath = '/space/assets/client-0123456789abcdef.html'
/** The app in one file. */
export const clientFile = '<!doctype html><title>Space</title>'
const inlineScript = 'document.documentElement.className = "js"'
const page = `<!doctype html><html><head><script>${inlineScript}</script>
<script type="module" crossorigin src="/space/assets/app-1.js"></script>
<link rel="alternate" type="text/html" href="${clientPath}"></head><body></body></html>`
const script = 'console.log("app")\n'

/** A valid service for tests. Its source has a build script of three lines that makes its bundle. */
export async function startStubService(): Promise<StubService> {
  const app = [
    { path: '/space', contentType: 'text/html; charset=utf-8', body: Buffer.from(page) },
    { path: '/space/assets/app-1.js', contentType: 'text/javascript; charset=utf-8', body: Buffer.from(script) },
    { path: clientPath, contentType: 'text/html; charset=utf-8', body: Buffer.from(clientFile) },
  ]
  const functionCode = Buffer.from(makeBundle(app))
  const { privateKey: signingKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const answers: Answers = {}
  const lines = makeLines()
  const received: string[] = []
  const server = createServer((req, res) => {
    answer(req, answers, received).then(
      ({ status = 200, headers = {}, body }) => res.writeHead(status, headers).end(body),
      (error: unknown) => res.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stub = {
    origin,
    answers,
    lines,
    received,
    build: { gitCommit, functionCode, sourceArchive: makeSource(functionCode), app } as SpaceBuild,
    certificate: undefined as unknown as Certificate,
    certify(changed: Partial<SpaceBuild>) {
      stub.build = { ...stub.build, ...changed }
      const certificate = makeCertificate({ build: stub.build, signingKey, service: 'atrium-space', egress: ['postgres'] })
      stub.certificate = certificate
      answers['GET /cert.json'] = json(certificate.cert)
      if (certificate.client) answers['GET /client.json'] = json(certificate.client)
      answers['GET /source.tar.gz'] = { body: stub.build.sourceArchive }
      answers['attest'] = ({ nonce }) => json(certificate.attest(nonce as string))
      for (const { path, body, contentType } of stub.build.app) {
        const csp = path === '/space' ? { 'content-security-policy': policy() } : {}
        answers[`GET ${path}`] = { headers: { 'content-type': contentType, ...csp }, body }
      }
    },
    store(stored: readonly string[]) {
      answers['sealed'] = json(sealedAnswer(stored.join('\n')))
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  stub.certify({})
  stub.store(lines)
  answers['GET /space-config'] = json({ api_url: 'https://api.example', identity: { issuer: 'https://issuer.example/x' } })
  return stub
}

export function json(value: unknown): Answer {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

export function sealedAnswer(sealed: string) {
  const sha256 = createHash('sha256').update(sealed).digest('hex')
  return { alg: 'A256GCM', bytes: Buffer.byteLength(sealed), sha256, recipients: ['room'], sealed }
}

export function policy(change: (directives: Record<string, string>) => void = () => undefined): string {
  const hash = createHash('sha256').update(inlineScript).digest('base64')
  const directives: Record<string, string> = {
    'default-src': "'none'",
    'connect-src': "'self' blob: https://api.example https://issuer.example",
    'script-src': `'self' 'sha256-${hash}' 'wasm-unsafe-eval'`,
    'style-src': "'self'",
    'img-src': "'self' blob: data:",
    'form-action': "'none'",
    'object-src': "'none'",
    'frame-ancestors': "'self'",
    'base-uri': "'none'",
    'require-trusted-types-for': "'script'",
  }
  change(directives)
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ')
}

export function sealAll(payloads: readonly string[]): string[] {
  const key = deriveRoomKey(secret)
  const lines: string[] = []
  for (const [seq, payload] of payloads.entries()) {
    const last = lines.at(-1)
    lines.push(sealLine({ key, seq, prev: last && lineHash(last), payload }))
  }
  return lines
}

export function makeRecords(): string[] {
  const at = '2026-11-20T09:30:00.000Z'
  const turn = (id: string) =>
    formatRecord({ t: 'turn', id, at, author: { kind: 'anonymous' }, message: { text: `words of ${id}` } })
  return [formatRecord({ t: 'policy', policy: 'open', at }), turn('one'), turn('two'), turn('three')]
}

function makeLines(): string[] {
  return sealAll(makeRecords())
}

function makeBundle(app: SpaceBuild['app']): string {
  const rows = app.map((file) => ({ ...file, body: Buffer.from(file.body).toString('base64') }))
  return `// embedded:atrium:embedded\nvar gitCommit = "${gitCommit}";\nvar app = ${JSON.stringify(rows)};\n`
}

/** A source whose build makes `functionCode`. */
export function makeSource(functionCode: Uint8Array, more: Record<string, string> = {}): Buffer {
  const scripts = { build: 'node build.mjs' }
  const files: Record<string, string> = {
    COMMIT: `${gitCommit}\n`,
    'package.json': JSON.stringify({ name: 'source', version: '1.0.0', scripts }),
    'package-lock.json': JSON.stringify({
      name: 'source',
      version: '1.0.0',
      lockfileVersion: 3,
      requires: true,
      packages: { '': { name: 'source', version: '1.0.0' } },
    }),
    'build.mjs': `import { mkdirSync, copyFileSync } from 'node:fs'
mkdirSync('packages/space/dist', { recursive: true })
copyFileSync('code.txt', 'packages/space/dist/space.mjs')`,
    'code.txt': Buffer.from(functionCode).toString(),
    ...more,
  }
  return makeArchive(Object.entries(files).map(([path, body]) => ({ path, body: Buffer.from(body) })))
}

async function answer(req: IncomingMessage, answers: Answers, received: string[]): Promise<Answer> {
  const body = await readAll(req)
  received.push(`${req.method} ${req.url} ${req.rawHeaders.join(' ')} ${body}`)
  const asked = body ? (JSON.parse(body) as Record<string, unknown>) : {}
  const found = answers[req.method === 'POST' ? String(asked['op']) : `${req.method} ${req.url}`]
  if (!found) return { status: 404, body: '{}' }
  return typeof found === 'function' ? found(asked) : found
}
