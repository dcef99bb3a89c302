import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { limits, ratePolicies, type RatePolicy } from '@atrium/contract/limits'
import { dispatch } from '../ops/dispatch.ts'
import type { SpaceConfig } from '../space-config.ts'
import type { SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import { StreamedAnswer } from '../ops/streamed-answer.ts'
import { sendAnswer, sendBytes, sendError, sendJson, sendStreamed } from './answer.ts'
import { callerKey } from './caller-key.ts'
import { readBody } from './read-body.ts'
import type { StaticFile } from './static-files.ts'

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

/** The service over HTTP: one endpoint, and files for anyone. */
export function makeSpaceServer({ ctx, config, files, log }: SpaceServerOptions): Server {
  const keyOf = callerKey(config.trustProxy)
  const policy = scaled(ratePolicies.address, config.rateLimitFactor)
  const { unread } = ctx

  const post = async (req: IncomingMessage, res: ServerResponse) => {
    const key = keyOf(req)
    if (policy) await count(ctx, policy, key)
    const request = await readBody(req)
    // Where nobody waits any more, a held poll must not go on holding.
    const caller = { key, isGone: () => res.destroyed, onGone: (listener: () => void) => void res.once('close', listener) }
    const answer = await dispatch(ctx, request, caller).finally(() => {
      // A stop waits for the connections that were in use: this is the last answer on its own.
      if (!server.listening) res.setHeader('connection', 'close')
    })
    await (answer instanceof StreamedAnswer ? sendStreamed(res, answer, unread) : sendAnswer(res, answer, unread))
  }

  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 72_000,
      maxHeaderSize: limits.headerBytes,
    },
    (req, res) => {
      const path = (req.url ?? '').split('?', 1)[0]!
      if (path === '/space' && req.method === 'POST') {
        post(req, res).catch((error: unknown) => {
          if (error instanceof SpaceError && error.error === 'payload_too_large') res.setHeader('connection', 'close')
          sendError(res, error, log)
        })
      } else if (req.method === 'OPTIONS') {
        // With whatever else the page's libraries add: none of it is read here.
        const headers = req.headers['access-control-request-headers'] || 'Content-Type'
        res.writeHead(204, { ...preflight, 'access-control-allow-headers': headers }).end()
      } else if (path === '/' && (req.method === 'GET' || req.method === 'HEAD')) {
        res.writeHead(302, { location: '/space', 'cache-control': 'no-cache' }).end()
      } else {
        void sendFile(req, res, files.get(path)).catch(() => res.destroy())
      }
    },
  )
  unread.watch(server)
  return server
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
  if (!file || (req.method !== 'GET' && req.method !== 'HEAD')) {
    sendJson(res, 404, { error: 'not_found', reason: 'path' })
    return
  }
  if (req.headers['if-none-match'] === file.headers['etag']) {
    res.writeHead(304, file.headers).end()
    return
  }
  res.writeHead(200, { ...file.headers, 'content-length': file.body.length })
  // All who read it share its memory.
  if (req.method === 'HEAD') res.end()
  else await sendBytes(res, file.body)
}
