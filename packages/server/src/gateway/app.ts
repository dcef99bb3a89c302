import { toError } from '#errors/caught.ts'
import { limits } from '@atrium/contract/limits'
import type { Operation } from '@atrium/contract/operation'
import { servedOperations } from '@atrium/contract/table'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { addAgentIssuer } from '#features/agent-issuer/agent-issuer.ts'
import type { Context } from '#features/context.ts'
import type { HandlerKinds } from '#features/handler.ts'
import { isOpenUpload } from '#features/artifacts/uploads/complete-upload.ts'
import { addPaymentRoutes } from '#features/credits/checkout/payment-routes.ts'
import { answerSharePageNotFound, isSharePage } from '#features/share/share-page.ts'
import { handlers } from './handlers.ts'
import { ApiError } from '#errors/api-error.ts'
import { answerError } from './answer-error.ts'
import { boundUnread } from '#http/bound-unread.ts'
import { allowsBrowsers, answerPreflight, applyCors, isPreflight } from '#http/cors.ts'
import { addDocs } from './docs/add-docs.ts'
import { addExamples } from './examples.ts'
import { answerFlatError } from './forward-space.ts'
import { explainNotFound } from './explain-not-found.ts'
import { authenticateAndLimit } from './authenticate-and-limit.ts'
import { answerClientError, answerUnknownExpectation, assertPlainRequest, takeJsonBodies } from './harden.ts'
import { addHealth, type Draining } from './health.ts'
import { limitReaders } from './limit-readers.ts'
import { addMcp } from './mcp/add-mcp.ts'
import { markPrivate } from './private-answers.ts'
import { serve } from './serve.ts'
import { addDiskBlobs } from './blob-routes.ts'
import { DiskBlobs } from '#ports/blobs/disk-blobs.ts'
import { newId } from '#crypto/random.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    operationId?: string
  }
}

/** The whole HTTP API: contract × handlers → routes. */
export function buildApp(ctx: Context): FastifyInstance & { state: Draining } {
  const log: FastifyBaseLogger = ctx.log
  const { publicUrl } = ctx.config
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for each request costs a tenth of its memory, and lines name the request anyway.
    childLoggerFactory: (logger) => logger,
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    // While stopping, what has arrived is still answered; see stop-server.ts.
    return503OnClosing: false,
    forceCloseConnections: false,
    trustProxy: ctx.config.trustProxy.length > 0 ? ctx.config.trustProxy : false,
    genReqId: () => newId('request'),
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 100 },
    clientErrorHandler: (error, socket) => answerClientError(publicUrl, error, socket),
    // What cannot be read as a path, or holds too long a part, has no route, nor the hooks of one.
    frameworkErrors: (error, req, reply) => {
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
      // Checked with the rest of a request's form, so that the answer is one of ours.
      requireHostHeader: false,
    },
  })
  const state: Draining = { draining: false }

  app.server.on('checkExpectation', (_req, res) => answerUnknownExpectation(publicUrl, res))
  takeJsonBodies(app)
  app.decorateRequest('tenantKey', undefined)
  app.decorateRequest('session', undefined)
  app.decorateRequest('onlyReplay', undefined)
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
    // Routes of their own have rules of their own.
    const answersOptions = req.method === 'OPTIONS' && req.is404
    if (answersOptions && isPreflight(req)) return void answerPreflight(req, reply)
    try {
      assertPlainRequest(req)
      if (answersOptions) answerPreflight(req, reply)
      else done()
    } catch (error) {
      // What follows on a connection that began so is not worth guessing.
      reply.header('connection', 'close')
      done(toError(error))
    }
  })

  boundUnread(app)

  for (const op of servedOperations) addOperation(app, ctx, op)
  addPaymentRoutes(app, ctx, authenticateAndLimit(ctx, { caller: 'anyone' }))
  if (ctx.blobs instanceof DiskBlobs) {
    const isOpen = (key: string) => isOpenUpload(ctx.db, key)
    addDiskBlobs(app, ctx.blobs, { publicUrl, isOpen, countRefusal: authenticateAndLimit(ctx, { caller: 'anyone' }) })
  }
  addMcp(app, ctx)
  void app.register(async (scope) => {
    scope.addHook('onRequest', limitReaders(ctx, 'documents'))
    addDocs(scope, ctx)
    addAgentIssuer(scope, ctx)
    if (!ctx.config.production) addExamples(scope)
  })
  addHealth(app, ctx, state)
  return Object.assign(app, { state })
}

function addOperation(app: FastifyInstance, ctx: Context, op: Operation): void {
  const handler = handlers[op.id as keyof typeof handlers]
  if (op.kind === 'forward') {
    const forward = handler as HandlerKinds<Operation>['forward']
    // Who calls, how often and with what is for the other service to judge: it has its own word for each refusal.
    app.route({
      method: op.method,
      url: routeOf(op),
      config: { operationId: op.id },
      onRequest: (_req, reply, done) => {
        applyCors(reply)
        done()
      },
      errorHandler: (error, _req, reply) => void answerFlatError(ctx, error, reply),
      handler: (req, reply) => forward({ ctx, req, reply }),
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
    // HEAD would use up a secret that is shown once, and not show it.
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
