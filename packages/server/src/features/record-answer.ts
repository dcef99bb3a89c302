import { servedOperations } from '@atrium/contract/table'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from './context.ts'

const pathOfOperation = new Map<string, string>(servedOperations.map(({ id, path }) => [id, path]))

/**
 * Counts an answer, writes its line to the access log and notes it for the tenant's request log. Both logs name the
 * operation or its path and not the URL, because a URL may contain ids, and its query string a credential. `code`: the
 * error code.
 */
export function recordAnswer(
  ctx: Context,
  req: FastifyRequest,
  reply: FastifyReply,
  operation: string | undefined,
  status: number,
  code: string | null = null,
) {
  const ms = reply.elapsedTime
  ctx.metrics.answered(operation, status, ms)
  ctx.accessLog?.answered({ method: req.method, operation, status, ms, requestId: req.id, traceId: req.span?.traceId })
  noteRequest(ctx, req, operation, { status, code, ms })
}

function noteRequest(
  { requestLog }: Context,
  req: FastifyRequest,
  operation: string | undefined,
  { status, code, ms }: { status: number; code: string | null; ms: number },
): void {
  const { tenantKey: key } = req
  if (!key?.logsRequests || !requestLog.isOn) return
  const path = operation === undefined ? undefined : pathOfOperation.get(operation)
  if (path === undefined) return
  requestLog.note({
    tenantId: key.tenantId,
    requestId: req.id,
    at: Date.now(),
    method: req.method,
    path,
    status,
    code,
    keyId: key.id,
    durationMs: Math.round(ms * 10) / 10,
    origin: originOf(req.headers.origin),
  })
}

/** The Origin header if it has the form that browsers send: any other text may contain a credential. */
function originOf(header: string | undefined): string | null {
  return header !== undefined && header.length <= 300 && /^[a-z][a-z+.-]*:\/\/[\w.-]+(?::\d{1,5})?$/.test(header) ? header : null
}
