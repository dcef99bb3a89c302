import { toError } from '#errors/caught.ts'
import { limits } from '@atrium/contract/limits'
import type { Operation } from '@atrium/contract/operation'
import { servedOperations } from '@atrium/contract/table'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { addAgentIssuer } from '#features/agent-issuer/agent-issuer.ts'
import type { Context } from '#features/context.ts'
import { isOpenUpload } from '#features/artifacts/uploads/complete-upload.ts'
import { areDeletionsHeld } from '#features/blob-deletions/hold-store.ts'
import { addPaymentRoutes } from '#features/credits/checkout/payment-routes.ts'
import { answerSharePageNotFound, isSharePage } from '#features/share/share-page.ts'
import { addLogRoutes } from '#features/transparency-log/add-log-routes.ts'
import { handlerOf } from './handlers.ts'
import { ApiError } from '#errors/api-error.ts'
import { answerError } from './answer-error.ts'
import { boundUnread } from '#http/bound-unread.ts'
import { allowsBrowsers, answerPreflight, applyCors, isPreflight } from '#http/cors.ts'
import { addConsole } from './add-console.ts'
import { addConsoleSessions } from './add-console-sessions.ts'
import { addDocs } from './docs/add-docs.ts'
import { addExamples } from './examples.ts'
import { answerFlatError } from './forward-space.ts'
import { explainNotFound } from './explain-not-found.ts'
import { authenticateAndLimit } from './authenticate-and-limit.ts'
import { answerClientError, answerUnknownExpectation, assertPlainRequest, takeJsonBodies } from './harden.ts'
import { addHealth, type Draining } from './health.ts'
import { limitReaders } from './limit-readers.ts'
import { addStatus } from './add-status.ts'
import { addMcp, type ServeMessage } from './mcp/add-mcp.ts'
import { traceRequests } from './trace-requests.ts'
import { markPrivate } from './private-answers.ts'
import { serve } from './serve.ts'
import { addDiskBlobs } from './blob-routes.ts'
import { DiskBlobs } from '#ports/blobs/disk-blobs.ts'
import { newRequestId } from '#crypto/random.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    operationId?: string
  }
}

/**
 * Builds the HTTP API: a route for each operation of the contract, with its handler. `serveMcp` is for tests: see
 * addMcp.
 */
export function buildApp(ctx: Context, serveMcp?: ServeMessage): FastifyInstance & { state: Draining } {
  const log: FastifyBaseLogger = ctx.log
  const { publicUrl } = ctx.config
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger per request costs a tenth of the request's memory, and each line names the request anyway.
    childLoggerFactory: (logger) => logger,
    requestTimeout: limits.requestTimeoutMs,
    // While the server stops, it still answers requests that have arrived; see stop-server.ts.
    return503OnClosing: false,
    forceCloseConnections: false,
    trustProxy: ctx.config.trustProxy.length > 0 ? ctx.config.trustProxy : false,
    genReqId: newRequestId,
    // No route has a schema of Fastify, so its compilers are not loaded.
    schemaController: { compilersFactory: { buildValidator: noSchema, buildSerializer: noSchema } },
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 100 },
    clientErrorHandler: (error, socket) => answerClientError(publicUrl, error, socket),
    // A path that cannot be decoded, or has a part that is too long, matches no route, so no hook of a route runs
    // for it.
    frameworkErrors: (error, req, reply) => {
      reply.header('x-request-id', req.id)
      if (isPreflight(req)) answerPreflight(req, reply)
      else if (isSharePage(req)) answerSharePageNotFound(req, reply)
      else answerError(ctx, error, req, reply)
    },
    http: {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 72_000,
      maxHeaderSize: limits.headerBytes,
      // Checked with the rest of the request's form, so that the error is one of the API.
      requireHostHeader: false,
    },
  })
  const state: Draining = { draining: false }

  app.server.on('checkExpectation', (_req, res) => answerUnknownExpectation(publicUrl, res))
  takeJsonBodies(app)
  app.decorateRequest('tenantKey', undefined)
  app.decorateRequest('session', undefined)
  app.decorateRequest('consoleSession', undefined)
  app.decorateRequest('operator', undefined)
  app.decorateRequest('onlyReplay', undefined)
  app.decorateRequest('span', undefined)
  if (ctx.tracing) traceRequests(app, ctx.tracing)
  app.setErrorHandler((error, req, reply) => answerError(ctx, error, req, reply))
  app.setNotFoundHandler((req, reply) => {
    if (isSharePage(req)) return answerSharePageNotFound(req, reply)
    const message = explainNotFound(req.method, req.raw.url ?? '', ctx.config.spacesUrl)
    return answerError(ctx, new ApiError('not_found', message === undefined ? {} : { message }), req, reply)
  })
  app.addHook('onRequest', (req, reply, done) => {
    reply.header('x-request-id', req.id)
    reply.header('x-content-type-options', 'nosniff')
    if (state.draining) reply.header('connection', 'close')
    // Routes that are not operations have their own rules.
    const answersOptions = req.method === 'OPTIONS' && req.is404
    if (answersOptions && isPreflight(req)) return void answerPreflight(req, reply)
    try {
      assertPlainRequest(req)
      if (answersOptions) answerPreflight(req, reply)
      else done()
    } catch (error) {
      // The rest of a connection that began so is not read, because its framing cannot be trusted.
      reply.header('connection', 'close')
      done(toError(error))
    }
  })

  boundUnread(app)

  for (const op of servedOperations) addOperation(app, ctx, op)
  addPaymentRoutes(app, ctx, authenticateAndLimit(ctx, { caller: 'anyone' }))
  if (ctx.blobs instanceof DiskBlobs) {
    addDiskBlobs(app, ctx.blobs, {
      publicUrl,
      isOpen: (key) => isOpenUpload(ctx.db, key),
      areDeletionsHeld: () => areDeletionsHeld(ctx.db),
      countRefusal: authenticateAndLimit(ctx, { caller: 'anyone' }),
    })
  }
  addMcp(app, ctx, serveMcp)
  addConsoleSessions(app, ctx)
  void app.register(async (scope) => {
    scope.addHook('onRequest', limitReaders(ctx, 'documents'))
    addDocs(scope, ctx)
    addConsole(scope)
    addAgentIssuer(scope, ctx)
    addLogRoutes(scope, ctx)
    addStatus(scope, ctx)
    if (!ctx.config.production) addExamples(scope)
  })
  addHealth(app, ctx, state)
  return Object.assign(app, { state })
}

function noSchema(): never {
  throw new Error('routes check and serialise by the contract: Fastify has no compilers of schemas')
}

function addOperation(app: FastifyInstance, ctx: Context, op: Operation): void {
  const handler = handlerOf(op)
  if (handler.kind === 'forward') {
    // The other service authenticates and limits its callers, because each of its refusals has a code of its own.
    app.route({
      method: op.method,
      url: routeOf(op),
      config: { operationId: op.id },
      onRequest: (_req, reply, done) => {
        applyCors(reply)
        done()
      },
      errorHandler: (error, req, reply) => void answerFlatError({ ctx, req, reply }, error),
      handler: (req, reply) => handler.handle({ ctx, req, reply }),
    })
    return
  }
  const authenticate = authenticateAndLimit(ctx, op)
  const browsers = allowsBrowsers(op)
  const mark = markPrivate(op)
  app.route({
    method: op.method,
    url: routeOf(op),
    config: { operationId: op.id },
    // HEAD is not served: it would consume a secret that is returned once, without returning it.
    exposeHeadRoute: !Object.values(op.answers).some((answer) => answer.oneTimeSecret),
    onRequest: (req, reply, done) => {
      if (browsers) applyCors(reply)
      mark(reply)
      authenticate(req, reply, done)
    },
    handler: serve(ctx, op, handler),
  })
}

/** `/collections/{id}` of the contract as Fastify's `/v1/collections/:id`; legacy operations live at the root. */
function routeOf(op: Operation): string {
  return (op.status === 'live' ? '/v1' : '') + op.path.replaceAll(/\{(\w+)\}/g, ':$1')
}
