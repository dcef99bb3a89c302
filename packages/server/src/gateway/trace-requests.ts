import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OpenSpan, Tracing } from '#ports/tracing/tracing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set where traces are on. */
    span: OpenSpan | undefined
  }
}

/**
 * Makes each request a span, by the semantic conventions for HTTP. The name has the route and not the path, which
 * contains ids. The query string, the caller's address and its headers are left out.
 */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.addHook('onRequest', (req, reply, done) => {
    const { method, route, operation } = describe(req)
    const attributes = {
      'http.request.method': method,
      'url.scheme': req.protocol === 'https' ? 'https' : 'http',
      ...(route === undefined ? {} : { 'http.route': route }),
      ...(operation === undefined ? {} : { 'atrium.operation': operation }),
    }
    const name = route === undefined ? method : `${method} ${route}`
    const { traceparent } = req.headers
    const span = tracing.begin(name, { kind: 'server', attributes }, typeof traceparent === 'string' ? traceparent : undefined)
    req.span = span
    // This event also comes where the caller leaves before the answer.
    reply.raw.once('close', () => endSpan(span, reply))
    span.run(done)
  })
  // The events of a body belong to its connection and not to the request.
  app.addHook('preValidation', (req, _reply, done) => (req.span ? req.span.run(done) : done()))
}

function endSpan(span: OpenSpan, { raw }: FastifyReply): void {
  if (raw.headersSent) span.set({ 'http.response.status_code': raw.statusCode })
  else span.fail('closed')
  if (raw.headersSent && raw.statusCode >= 500) span.fail(String(raw.statusCode))
  span.end()
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function describe(req: FastifyRequest): { method: string; route: string | undefined; operation: string | undefined } {
  const { url, config } = req.routeOptions
  return {
    method: methods.has(req.method) ? req.method : '_OTHER',
    route: req.is404 ? undefined : url?.replaceAll(/:(\w+)/g, '{$1}'),
    operation: config?.operationId,
  }
}
