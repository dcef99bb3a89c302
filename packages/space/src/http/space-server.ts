import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { addressPolicy, type RatePolicy, requestLimits } from '@atrium/contract/request-limits'
import { drainConnections } from '@atrium/traffic/drain-connections'
import { dispatch, opOf } from '../ops/dispatch.ts'
import type { SpaceConfig } from '../space-config.ts'
import type { SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import { StreamedAnswer } from '../ops/streamed-answer.ts'
import { sendAnswer, sendBytes, sendError, sendJson, sendStreamed } from './answer.ts'
import { callerKey } from './caller-key.ts'
import { readBody } from './read-body.ts'
import type { StaticFile } from './static-files.ts'

// An `import` of node:http reads all that it exports. One of these is WebSocket, whose library takes 10 MiB.
const { createServer } = process.getBuiltinModule('node:http')

interface SpaceServerOptions {
  ctx: SpaceContext
  config: SpaceConfig
  /** By path: the app, the certificate, the source. */
  files: Map<string, StaticFile>
  log: (line: string) => void
}

const preflight = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, GET',
  'access-control-max-age': '7200',
  vary: 'access-control-request-headers',
}

/** The HTTP server: one endpoint, and public files. `drain` stops it without failing a request. */
export function makeSpaceServer({ ctx, config, files, log }: SpaceServerOptions): { server: Server; drain: () => Promise<void> } {
  const keyOf = callerKey(config.trustProxy)
  const policy = scaled(addressPolicy, config.rateLimitFactor / config.processes)
  const { unread } = ctx
  let isStopping = false
  /** A stop waits for connections that are in use, so each answer is the last one on its connection. */
  const endIfStopping = (res: ServerResponse) => {
    if (isStopping || !server.listening) res.setHeader('connection', 'close')
  }

  const post = async (req: IncomingMessage, res: ServerResponse, named: (op: string | undefined) => void) => {
    const key = keyOf(req)
    if (policy) await count(ctx, policy, key)
    const request = await readBody(req, key)
    named(opOf(request))
    // If the client has disconnected, its held poll must release its place.
    const caller = { key, isGone: () => res.destroyed, onGone: (listener: () => void) => void res.once('close', listener) }
    const answer = await dispatch(ctx, request, caller).finally(() => endIfStopping(res))
    await (answer instanceof StreamedAnswer ? sendStreamed(res, answer, unread, key) : sendAnswer(res, answer, unread, key))
  }

  const server = createServer(
    {
      headersTimeout: requestLimits.headersTimeoutMs,
      requestTimeout: requestLimits.requestTimeoutMs,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 72_000,
      maxHeaderSize: requestLimits.headerBytes,
    },
    (req, res) => {
      endIfStopping(res)
      const [path = ''] = (req.url ?? '').split('?', 1)
      const isRead = req.method === 'GET' || req.method === 'HEAD'
      const file = isRead ? files.get(path) : undefined
      if (path === '/space' && req.method === 'POST') {
        const startMs = performance.now()
        let op: string | undefined
        void post(req, res, (name) => (op = name))
          .then(
            () => 'ok',
            (error: unknown) => {
              // The rest of the body is not read.
              if (req.isPaused()) res.setHeader('connection', 'close')
              return sendError(res, error, log)
            },
          )
          .then((outcome) => ctx.metrics.answered(op ?? 'other', outcome, (performance.now() - startMs) / 1_000))
      } else if (isRead && path === '/readyz') {
        sendJson(res, isStopping ? 503 : 200, isStopping ? { status: 'not_ready', reason: 'stopping' } : { status: 'ready' })
      } else if (req.method === 'OPTIONS') {
        // Libraries of the page may add headers; none of them is read here.
        const headers = req.headers['access-control-request-headers'] || 'Content-Type'
        res.writeHead(204, { ...preflight, 'access-control-allow-headers': headers }).end()
      } else if (isRead && !file && (path === '/' || /\btext\/html\b/.test(req.headers.accept ?? ''))) {
        // A browser keeps the fragment through a redirect, so a room's link also works with a wrong path.
        res.writeHead(302, { location: '/space', 'cache-control': 'no-cache', vary: 'accept' }).end()
      } else {
        void sendFile(req, res, file).catch(() => res.destroy())
      }
    },
  )
  unread.watch(server)
  const drain = () => {
    isStopping = true
    // Before the listener is closed, a poll that is answered without news would be sent again at once.
    return drainConnections(server, () => void ctx.watch.close())
  }
  return { server, drain }
}

async function count(ctx: SpaceContext, policy: RatePolicy, key: string): Promise<void> {
  const decision = await ctx.limiter.take([{ key, policy }])
  if (!decision.allowed)
    throw new SpaceError('rate_limited', 'too many requests', Math.max(1, Math.ceil(decision.resetMs / 1_000)))
}

function scaled(policy: RatePolicy, factor: number): RatePolicy | undefined {
  if (factor === 0) return undefined
  return { name: policy.name, perSecond: policy.perSecond * factor, burst: Math.max(1, Math.round(policy.burst * factor)) }
}

async function sendFile(req: IncomingMessage, res: ServerResponse, file: StaticFile | undefined): Promise<void> {
  if (!file) return sendJson(res, 404, { error: 'not_found', reason: 'path' })
  if (req.headers['if-none-match'] === file.headers['etag']) return void res.writeHead(304, file.headers).end()
  res.writeHead(200, { ...file.headers, 'content-length': file.body.length })
  // All readers share its memory.
  if (req.method === 'HEAD') res.end()
  else await sendBytes(res, file.body)
}
