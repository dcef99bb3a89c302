import { createClient } from '@atrium/client/create-client'
import { limits } from '@atrium/contract/limits'
import { JsonError, parseStrictJson } from '@atrium/contract/strict-json'
import type { Connection } from '@atrium/mcp/connection'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { recordAnswer } from '#features/record-answer.ts'
import { ApiError } from '#errors/api-error.ts'
import { sendBody } from '#http/bound-unread.ts'
import { bodyOf } from '#http/parse.ts'
import { authenticateAndLimit } from '../authenticate-and-limit.ts'
import { bearerValue } from '../bearer-value.ts'
import { countUsage } from '../count-usage.ts'
import { readDocsSections } from '../docs/docs-sections.ts'
import { onceMade } from '../docs/fixed-file.ts'
import { callInProcess } from './call-in-process.ts'

export type ServeMessage = typeof import('@atrium/mcp/serve-http').serveMessage

/** The time limit of one message, with every call of the API that it makes. */
const messageTimeoutMs = 45_000
/** The headers of the protocol. No other header of the request is passed to the SDK. */
const protocolHeaders = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'last-event-id']

/**
 * Adds /mcp: the Model Context Protocol over Streamable HTTP, without sessions. A tool has no direct access to data:
 * it calls an operation of this API with the caller's credentials and IP address, through the same routes, checks
 * and limits as any request (docs/decisions/0028-mcp.md). `serve` replaces the tools in the protocol's conformance
 * suite.
 */
export function addMcp(app: FastifyInstance, ctx: Context, serve?: ServeMessage): void {
  const { publicUrl } = ctx.config
  const origin = new URL(publicUrl).origin
  const authenticate = authenticateAndLimit(ctx, { caller: 'publishable' })
  let sections: ReturnType<typeof readDocsSections> | undefined
  const docs = async () => (sections ??= readDocsSections(ctx.config))
  // Loaded on the first request, because most installations do not use it.
  let loading: Promise<ServeMessage> | undefined
  const load = () => (loading ??= serve ? Promise.resolve(serve) : import('@atrium/mcp/serve-http').then((m) => m.serveMessage))

  const sectionsFile = onceMade(async () => Buffer.from(JSON.stringify(await docs())))
  app.get('/docs/sections.json', async (req, reply) => {
    reply.header('content-type', 'application/json; charset=utf-8').header('cache-control', 'public, max-age=300')
    return sendBody(req, reply, await sectionsFile())
  })

  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    exposeHeadRoute: false,
    config: { operationId: 'mcp' },
    onRequest: (req, reply, done) => {
      reply.header('cache-control', 'no-store')
      if (req.headers.origin !== undefined && req.headers.origin !== origin)
        return done(new ApiError('not_authorized', { message: 'Pages of other origins may not call /mcp.', reason: 'origin' }))
      authenticate(req, reply, done)
    },
    handler: async (req, reply) => {
      const serveMessage = await load()
      const parsed = parse(bodyOf(req))
      if ('refusal' in parsed)
        return send(ctx, req, reply, { status: 400, type: 'application/json', body: parsed.refusal, isRead: true })
      const cut = new AbortController()
      const timer = setTimeout(() => cut.abort(), messageTimeoutMs)
      reply.raw.once('close', () => cut.abort())
      try {
        const connection = connectionOf(app, ctx, req, docs)
        const answer = await serveMessage(requestOf(req, publicUrl, cut.signal), parsed.message, connection)
        const body = await answer.text()
        const allow = answer.headers.get('allow')
        if (allow) reply.header('allow', allow)
        const type = answer.headers.get('content-type')
        return await send(ctx, req, reply, { status: answer.status, type, body, isRead: !connection.allowWrites })
      } finally {
        clearTimeout(timer)
      }
    },
  })
}

/**
 * Parses a message: strict JSON, like every body of the API, and a single object. The protocol has no batches since
 * 2025-06-18, and a batch would multiply the work of one request.
 */
function parse(bytes: Buffer | undefined): { message: unknown } | { refusal: string } {
  if (!bytes || bytes.length === 0) return { message: undefined }
  try {
    const message = parseStrictJson(bytes)
    return Array.isArray(message) ? { refusal: refusal(-32_600, 'Batches are not supported.') } : { message }
  } catch (error) {
    if (error instanceof JsonError) return { refusal: refusal(-32_700, `Parse error: ${error.message}`) }
    throw error
  }
}

function refusal(code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
}

function requestOf(req: FastifyRequest, publicUrl: string, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const name of protocolHeaders) {
    const value = req.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  const body = bodyOf(req)
  return new Request(`${publicUrl}/mcp`, { method: req.method, headers, signal, ...(body ? { body: new Uint8Array(body) } : {}) })
}

function connectionOf(app: FastifyInstance, ctx: Context, req: FastifyRequest, docs: Connection['docs']): Connection {
  const { authorization, 'x-api-key': apiKey, 'x-collection-token': token, 'x-mcp-writes': writes } = req.headers
  const key = bearerValue(authorization) ?? (apiKey as string)
  const isSecretKey = req.tenantKey?.kind === 'secret'
  return {
    client: createClient({
      baseUrl: ctx.config.publicUrl,
      key,
      fetch: callInProcess(app, req.ip),
      retries: 0,
      timeoutMs: limits.requestTimeoutMs,
    }),
    publicUrl: ctx.config.publicUrl,
    isSecretKey,
    // Writing is allowed only if all three agree: the operator, the client's configuration and the tenant's secret
    // key.
    allowWrites: ctx.config.mcpWrites && writes === 'allow' && isSecretKey,
    collectionToken: typeof token === 'string' ? token : undefined,
    coupon: undefined,
    kept: undefined,
    onFault: (error) => ctx.log.error({ request_id: req.id, err: error }, 'a tool failed'),
    docs,
  }
}

interface McpAnswer {
  status: number
  type: string | null
  body: string
  /** The message cannot have changed anything. */
  isRead: boolean
}

async function send(
  ctx: Context,
  req: FastifyRequest,
  reply: FastifyReply,
  { status, type, body, isRead }: McpAnswer,
): Promise<FastifyReply> {
  reply.code(status)
  if (type) reply.header('content-type', type)
  const answered = body === '' ? reply.send() : sendBody(req, reply, body, isRead)
  // Afterwards: sendBody may refuse the answer, and then the error is the answer.
  recordAnswer(ctx, req, reply, 'mcp', status)
  countUsage(ctx, req, body)
  return answered
}
