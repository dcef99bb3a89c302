import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { appPageEntry, filesNamedIn } from '@atrium/log/app-page'
import { certificateEntry, epochEntry } from '@atrium/log/check-log'
import { readBody } from './read-body.ts'
import { STUB_PUBLISHABLE_KEY, startStubApi } from './stub-api.ts'
import { stubCertificate } from './stub-certificate.ts'
import { startStubProvider } from './stub-provider.ts'
import { type Fields, Rejected, StubRooms } from './stub-rooms.ts'

const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }

export const STUB_COUPON_URL = 'https://coupons.example/buy'

/** A fake Space service with rooms in memory, for tests of the app without the real service. */
export async function startStubSpace(appFolder: string) {
  const provider = await startStubProvider()
  const { issuer } = provider
  const certificate = stubCertificate()
  const rooms = new StubRooms(provider)
  const api = await startStubApi(rooms)
  /** Replaces the answers of the endpoint, for tests of a failing service. */
  let broken: { status: number; error: string; reason: string } | undefined

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = new URL(req.url ?? '/', 'http://x').pathname
    const json = (status: number, body: unknown) =>
      void res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body))
    if (path === '/space' && req.method === 'POST') return endpoint(req, res, json)
    if (path === '/space') {
      const page = await readFile(join(appFolder, 'index.html'), 'utf8')
      res.setHeader('content-security-policy', policy([api.origin, issuer], page))
      res.setHeader('integrity-policy', 'blocked-destinations=(script)')
      res.setHeader('referrer-policy', 'no-referrer').setHeader('x-content-type-options', 'nosniff')
      res.setHeader('cross-origin-opener-policy', 'same-origin')
      return void res.setHeader('content-type', 'text/html; charset=utf-8').end(page)
    }
    if (/^\/space\/assets\/[\w.-]+$/.test(path)) {
      const file = await readFile(join(appFolder, path.slice('/space'.length))).catch(() => undefined)
      return void (file
        ? res
            .setHeader('content-type', TYPES[extname(path)] ?? 'text/plain')
            .setHeader('content-security-policy', "default-src 'none'")
            .end(file)
        : res.writeHead(404).end())
    }
    if (path === '/space-config') {
      const identity = { issuer, client_id: provider.clientId, label: 'the test provider', development: true }
      const addresses = { space_url: `${api.origin}/v1/space`, api_url: api.origin }
      return json(200, {
        ...addresses,
        publishable_key: STUB_PUBLISHABLE_KEY,
        coupon_url: STUB_COUPON_URL,
        service: 'atrium-space',
        identity,
      })
    }
    if (path === '/cert.json') return json(200, certificate.certificate())
    if (path === '/source.tar.gz') return void res.setHeader('content-type', 'application/gzip').end(certificate.source)
    res.writeHead(404).end()
  }

  async function endpoint(
    req: IncomingMessage,
    res: ServerResponse,
    json: (status: number, body: unknown) => void,
  ): Promise<void> {
    const closed = new AbortController()
    res.on('close', () => closed.abort())
    try {
      const fields = JSON.parse(await readBody(req)) as Fields
      if (broken) return json(broken.status, broken)
      json(200, await dispatch(fields, closed.signal))
    } catch (error) {
      if (error instanceof Rejected) json(error.status, error.body)
      else json(500, { error: 'internal_error', reason: String(error) })
    }
  }

  function dispatch(fields: Fields, closed: AbortSignal): unknown {
    if (fields.op === 'poll') return rooms.poll(fields, closed)
    if (fields.op === 'turn') return rooms.turn(fields)
    if (fields.op === 'sealed') return rooms.sealed(fields)
    if (fields.op === 'attest') return certificate.attest(fields['nonce'])
    if (fields.op === 'create') return rooms.create(fields)
    if (fields.op === 'rename') return rooms.rename(fields)
    if (fields.op === 'admit' || fields.op === 'expel') return rooms.changeList(fields)
    if (fields.op === 'remove') return rooms.remove(fields)
    throw new Rejected(400, 'invalid_request', 'op')
  }

  const { log } = api
  const logShown = async () => log.append(certificateEntry(certificate.certificate()), await appEntry(appFolder, certificate))
  log.append({ type: 'earlier' })
  await logShown()
  log.append(...log.epochs.map((epoch) => epochEntry(epoch)))
  const server = await listen(answer)
  return {
    origin: originOf(server),
    rooms,
    api,
    certificate,
    provider,
    breakWith(answer: typeof broken) {
      broken = answer
    },
    stop() {
      provider.stop()
      api.stop()
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The page as this server shows it. */
async function appEntry(appFolder: string, { certificate }: ReturnType<typeof stubCertificate>) {
  const page = await readFile(join(appFolder, 'index.html'))
  const files = new Map<string, Uint8Array>()
  for (const path of filesNamedIn(page)) files.set(path, await readFile(join(appFolder, path.slice('/space'.length))))
  const { functionCodeSha256: code } = JSON.parse(certificate().signed) as { functionCodeSha256: string }
  return appPageEntry({ page, files, code })
}

function policy(origins: string[], page: string): string {
  const [, map = ''] = /<script type="importmap">([^<]*)</.exec(page) ?? []
  return [
    "default-src 'none'",
    `connect-src 'self' blob: ${origins.join(' ')}`,
    `script-src 'self' 'sha256-${createHash('sha256').update(map).digest('base64')}' 'wasm-unsafe-eval'`,
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "font-src 'self'",
    "form-action 'none'",
    "object-src 'none'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
}

async function listen(answer: (req: IncomingMessage, res: ServerResponse) => Promise<void>): Promise<Server> {
  const server = createServer((req, res) => {
    answer(req, res).catch(() => res.writeHead(500).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

function originOf(server: Server): string {
  return `http://localhost:${(server.address() as AddressInfo).port}`
}
