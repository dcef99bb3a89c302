import { createHash } from 'node:crypto'
import { isAudited, type Operation } from '@atrium/contract/operation'
import { idKindOf } from '@atrium/contract/schemas'
import { isId, type IdKind } from '@atrium/contract/tokens'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { type AuditActor, auditedOperation, type AuditOrigin } from '#features/audit-log/audit-entry.ts'
import { recordAudit, recordRefusal } from '#features/audit-log/record-audit.ts'
import { recordAnswer } from '#features/record-answer.ts'
import { ApiError } from '#errors/api-error.ts'
import { assertRoom, sendBody } from '#http/bound-unread.ts'
import type { AnyHandler, Call, CollectionAccess } from '#features/handler.ts'
import { actorOf, holderOf } from '#features/console/sign-in.ts'
import { sessionName } from '#features/console/resolve-callers.ts'
import { runIfActive } from '#features/tenants/assert-active.ts'
import { checkCapability } from '#features/collections/check-capability.ts'
import { countUsage } from './count-usage.ts'
import { isIdempotencyKey, type Claim, type SentAnswer } from '#http/idempotency/claim.ts'
import { claimedTransaction } from '#http/idempotency/claimed-transaction.ts'
import { replayOrRefuse, runClaimed, type ClaimedAnswer } from '#http/idempotency/run-claimed.ts'
import { pageTurns } from '#http/page-turns.ts'
import { assertNoBody, lazyCheck, lazyQuery, parseBody, bodyFor } from '#http/parse.ts'
import { lazyAnswers, type Answer } from '#http/serialise.ts'
import { hashCredential } from '#crypto/random.ts'
import { limitAddress } from '@atrium/traffic/client-address'
import { assertStillAllowed } from './assert-still-allowed.ts'
import { collectionTokenOf, presentedKeyHash } from './authenticate.ts'
import { claimReader, idempotencyKeyOf } from './claim-reader.ts'
import { presentedSession } from '#features/console/session.ts'
import { notAnId } from './explain-not-found.ts'

type AnyCall = Call<Operation>
/** The handlers whose answer the gateway sends. */
type AnsweringHandler = Exclude<AnyHandler, { kind: 'stream' | 'forward' }>

const nothing = Buffer.alloc(0)
/** The caller is checked before the body is read. If the body arrives later than this, the caller is checked again. */
const slowBodyMs = 1_000

/** Makes the route handler of an operation: all checks that the contract declares, then the feature's handler. */
export function serve(ctx: Context, op: Operation, handler: Exclude<AnyHandler, { kind: 'forward' }>) {
  const readCall = hideFromEnded(callReader(ctx, op))
  const loadCollection = collectionLoader(ctx, op)
  const isSlow = (req: FastifyRequest, reply: FastifyReply) => reply.elapsedTime > slowBodyMs && !req.onlyReplay
  if (handler.kind === 'stream') {
    const { handle: stream } = handler
    return async (req: FastifyRequest, reply: FastifyReply) => {
      if (isSlow(req, reply)) await assertStillAllowed(ctx, op, req)
      return stream({
        ...(await loadCollection(req, readCall(req))),
        req,
        reply,
        keyHash: callerHash(ctx, req) as never,
        assertStillAllowed: () => assertStillAllowed(ctx, op, req),
      })
    }
  }
  const serialise = lazyAnswers(op) as (answer: unknown) => SentAnswer
  const run = runner(ctx, op, handler)
  const readClaim = claimReader(ctx, op, serialise)
  const isPaged = op.answers[200]?.paged === true

  return async (req: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (isSlow(req, reply)) await assertStillAllowed(ctx, op, req)
    const asked = readCall(req)
    const claimed = (answered: ClaimedAnswer) => {
      reply.header('idempotency-status', answered.status).header('idempotency-expires', answered.expiresAt)
      return send(ctx, op, req, reply, answered.answer)
    }
    let call: AnyCall
    try {
      if (req.onlyReplay) throw req.onlyReplay
      call = await loadCollection(req, asked)
    } catch (refusal) {
      const { 'idempotency-key': key } = req.headers
      if (!op.idempotency || typeof key !== 'string' || !isIdempotencyKey(key)) throw refusal
      const { claim, open } = readClaim(req, asked, key)
      return claimed(await replayOrRefuse(ctx.db, claim, refusal, open))
    }
    const assertAccess = (call.access as CollectionAccess | undefined)?.check
    const idempotencyKey = op.idempotency && (await idempotencyKeyOf(op, req, assertAccess))
    if (idempotencyKey === undefined) {
      if (!isPaged) {
        const answer = (await run(call, undefined)) as Answer
        return send(ctx, op, req, reply, serialise(answer), answer)
      }
      // The slot is released before the answer is sent: a client that does not read would keep it.
      assertRoom(req, reply)
      const { answer, sent } = await pageTurns.run(req.tenantKey?.tenantId ?? limitAddress(req.ip), 1, async () => {
        const made = (await run(call, undefined)) as Answer
        return { answer: made, sent: serialise(made) }
      })
      return send(ctx, op, req, reply, sent, answer)
    }
    const { claim, open } = readClaim(req, asked, idempotencyKey)
    return claimed(await runClaimed(ctx.db, claim, async () => serialise(await run(call, claim)), open, assertAccess))
  }
}

/** The hash by which the key cache finds the key, or the session of the console in its place. */
function callerHash(ctx: Context, req: FastifyRequest): string | undefined {
  if (req.consoleSession) return sessionName(presentedSession(ctx, req.headers) ?? '')
  return req.tenantKey && presentedKeyHash(req.headers)
}

/** Reports an expired key first, before any other error of the request. */
function hideFromEnded(read: ReturnType<typeof callReader>): typeof read {
  return (req) => {
    try {
      return read(req)
    } catch (error) {
      throw req.onlyReplay ?? error
    }
  }
}

type Run = (call: AnyCall, claim: Claim | undefined) => Promise<unknown>

/** Calls a handler of one of the kinds whose answer the gateway sends. */
function runner(ctx: Context, op: Operation, { kind, handle }: AnsweringHandler): Run {
  if (kind === 'read') return isAudited(op) ? recordingRefusals(ctx, handle) : handle
  if (kind === 'write')
    return recordingRefusals(ctx, (call, claim) =>
      claimedTransaction(ctx.db.lane(laneOf(op.id, call)), claim, (tx) =>
        runIfActive(tx, call.tenantId, async () => {
          const answer = await handle({ ...call, tx })
          await recordAudit(tx, call.audit, (answer as Answer).data)
          return answer
        }),
      ),
    )
  return (call, claim) => handle({ ...call, claim })
}

/**
 * A refusal rolls back the call's own writes, so its audit entry commits separately. Unauthenticated calls leave
 * none.
 */
function recordingRefusals(ctx: Context, run: Run): Run {
  return async (call, claim) => {
    try {
      return await run(call, claim)
    } catch (error) {
      const { audit } = call
      if (audit && audit.actor.kind !== 'anyone' && error instanceof ApiError) await recordRefusal(ctx.db, audit, error.code)
      throw error
    }
  }
}

/**
 * The key of the lane. An operation locks rows of the collection, agent or session that its path names first, or
 * else of its tenant.
 */
function laneOf(operationId: string, { tenantId, params }: AnyCall): string {
  return `${tenantId ?? ''}/${Object.values(params)[0] ?? operationId}`
}

/** Reads the input before access is checked: a malformed request has the same error for every caller. */
function callReader(ctx: Context, op: Operation): (req: FastifyRequest) => AnyCall {
  const checkBody = op.body && lazyCheck(op.body)
  const readQuery = op.query && lazyQuery(op.query)
  // A page for people has its own 404 page.
  const idParams = op.answers[404] ? [] : idParamsOf(op)

  return (req) => {
    if (op.role === 'issuer' && !req.tenantKey?.roles.includes('issuer')) throw new ApiError('issuer_role_required')
    const params = req.params as Record<string, string>
    for (const [name, kind] of idParams) if (!isId(kind, params[name] ?? '')) throw notAnId(kind, params[name] ?? '')
    const bytes = bodyFor(op, req)
    const body = checkBody ? parseBody(bytes) : undefined
    checkBody?.(body)
    if (!checkBody) assertNoBody(bytes)
    const query = readQuery ? readQuery(req.query as Record<string, unknown>) : {}
    const call = {
      ctx,
      params,
      query,
      body,
      headers: req.headers,
      rawBody: bytes ?? nothing,
      audit: isAudited(op) ? auditOriginOf(op, req, params) : undefined,
      address: req.ip,
      tenantId: req.tenantKey?.tenantId,
      key: req.tenantKey,
      session: req.session,
      collection: undefined,
      access: undefined,
      owner: false,
    }
    return call as AnyCall
  }
}

function auditOriginOf({ id }: Operation, req: FastifyRequest, params: Record<string, string>): AuditOrigin {
  const { tenantKey: key, operator, consoleSession } = req
  const actor: AuditActor = consoleSession
    ? actorOf(holderOf(consoleSession))
    : key
      ? { kind: 'key', id: key.id, name: null }
      : operator
        ? { kind: 'operator', ...operator }
        : { kind: 'anyone', id: null, name: null }
  return { actor, tenantId: key?.tenantId, operation: auditedOperation(id), params, address: req.ip, requestId: req.id }
}

/**
 * Loads the collection in the path, and checks the collection token of the request. With the capability `contributor`,
 * the call has `access` instead, because the handler checks the token together with its write.
 */
function collectionLoader(ctx: Context, op: Operation): (req: FastifyRequest, call: AnyCall) => AnyCall | Promise<AnyCall> {
  const { capability } = op
  return (req, call) => {
    if (!capability || !req.tenantKey) return call
    const { tenantId } = req.tenantKey
    const { id = '' } = req.params as Record<string, string>
    const token = collectionTokenOf(req.headers)
    // The role of the session was checked. It stands for the tenant, which owns the collection.
    const isSession = req.consoleSession !== undefined
    if (capability === 'contributor') {
      const check = async () => {
        const collection = await ctx.collections.get(tenantId, id)
        if (!isSession) checkCapability(capability, token, collection)
        return collection
      }
      const tokenHash = isSession ? null : token === undefined ? nothing : hashCredential(token)
      return { ...call, access: { tokenHash, check } } as unknown as AnyCall
    }
    return ctx.collections.get(tenantId, id).then((collection) => {
      const owner = isSession || checkCapability(capability, token, collection)
      return { ...call, collection, owner } as unknown as AnyCall
    })
  }
}

/** The path's parameters that are ids, with their kinds. A value without the form of an id cannot exist. */
function idParamsOf(op: Operation): [string, IdKind][] {
  return Object.entries(op.params?.properties ?? {}).flatMap(([name, schema]) => {
    const kind = idKindOf(schema)
    return kind ? [[name, kind] satisfies [string, IdKind]] : []
  })
}

/** Records the answer after it was sent: sendBody may refuse it, and then the error is the answer. */
function send(
  ctx: Context,
  op: Operation,
  req: FastifyRequest,
  reply: FastifyReply,
  sent: SentAnswer,
  answer?: Answer,
): FastifyReply {
  const spec = op.answers[sent.status]
  reply.code(sent.status)
  if (spec?.oneTimeSecret) reply.header('cache-control', 'no-store')
  if (spec?.maxAgeSeconds) reply.header('cache-control', `public, max-age=${spec.maxAgeSeconds}`)
  if (!spec?.data) return recordSent(ctx, op, req, reply.send(), '')
  reply.header('content-type', spec.raw === 'text/html' ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8')
  if (answer?.headers) reply.headers(answer.headers)
  if (answer?.etag) {
    const hashed = answer.etag === true ? sent.body : answer.etag
    const etag = `${answer.etag === true ? '' : 'W/'}"${createHash('sha256').update(hashed).digest('base64url').slice(0, 27)}"`
    reply.header('etag', etag)
    if (matches(req.headers['if-none-match'], etag)) return recordSent(ctx, op, req, reply.code(304).send(), '')
  }
  return recordSent(ctx, op, req, sendBody(req, reply, sent.body, req.method === 'GET' || op.kind === 'read'), sent.body)
}

function recordSent(ctx: Context, op: Operation, req: FastifyRequest, reply: FastifyReply, body: string): FastifyReply {
  recordAnswer(ctx, req, reply, op.id, reply.statusCode)
  countUsage(ctx, req, body)
  return reply
}

/** If-None-Match (RFC 9110, 13.1.2): a list of tags, compared weakly, or an asterisk. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const weak = (tag: string) => tag.trim().replace(/^W\//, '')
  return header === '*' || header.split(',').some((tag) => weak(tag) === weak(etag))
}
