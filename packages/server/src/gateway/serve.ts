import { isJsonObject } from '@atrium/contract/strict-json'
import { createHash } from 'node:crypto'
import { isAudited, type Operation } from '@atrium/contract/operation'
import { idKindOf } from '@atrium/contract/schemas'
import { isId, type IdKind } from '@atrium/contract/tokens'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { type AuditActor, auditedOperation, type AuditOrigin } from '#features/audit-log/audit-entry.ts'
import { recordAudit, recordRefusal } from '#features/audit-log/record-audit.ts'
import { recordAnswer } from '#features/record-answer.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { assertRoom, sendBody } from '#http/bound-unread.ts'
import type { AnyHandler, Call, CollectionAccess } from '#features/handler.ts'
import { actorOf, holderOf } from '#features/console/sign-in.ts'
import { sessionName } from '#features/console/resolve-callers.ts'
import { checkCapability } from '#features/collections/check-capability.ts'
import { countUsage } from './count-usage.ts'
import { isIdempotencyKey, makeClaim, openAnswer, type Claim, type SentAnswer } from '#http/idempotency/claim.ts'
import { claimedTransaction } from '#http/idempotency/claimed-transaction.ts'
import { replayOrRefuse, runClaimed, type ClaimedAnswer } from '#http/idempotency/run-claimed.ts'
import { pageTurns } from '#http/page-turns.ts'
import { assertNoBody, lazyCheck, lazyQuery, parseBody, bodyOf, pathOf } from '#http/parse.ts'
import { lazyAnswers, type Answer } from '#http/serialise.ts'
import { hashCredential } from '#crypto/random.ts'
import { limitAddress } from '@atrium/traffic/client-address'
import { assertStillAllowed } from './assert-still-allowed.ts'
import { presentedKeyHash } from './authenticate.ts'
import { presentedSession } from '#features/console/session.ts'
import { notAnId } from './explain-not-found.ts'

type AnyCall = Call<Operation>
/** The handlers whose answer the gateway sends. */
type AnsweringHandler = Exclude<AnyHandler, { kind: 'stream' | 'forward' }>

/** Makes the route handler of an operation: all checks that the contract declares, then the feature's handler. */
export function serve(ctx: Context, op: Operation, handler: Exclude<AnyHandler, { kind: 'forward' }>) {
  const readCall = hideFromEnded(callReader(ctx, op))
  const loadCollection = collectionLoader(ctx, op)
  if (handler.kind === 'stream') {
    const { handle: stream } = handler
    return async (req: FastifyRequest, reply: FastifyReply) =>
      stream({
        ...(await loadCollection(req, readCall(req))),
        req,
        reply,
        keyHash: callerHash(ctx, req) as never,
        assertStillAllowed: () => assertStillAllowed(ctx, op, req),
      })
  }
  const serialise = lazyAnswers(op) as (answer: unknown) => SentAnswer
  const run = runner(ctx, op, handler)
  const readClaim = claimReader(ctx, op, serialise)
  const isPaged = op.answers[200]?.paged === true

  return async (req: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
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
    const idempotencyKey = await idempotencyKeyOf(op, req, assertAccess)
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

const nothing = Buffer.alloc(0)

/** Makes a request's claim on its Idempotency-Key, and the function that opens the stored answer. */
function claimReader(ctx: Context, op: Operation, serialise: (answer: unknown) => SentAnswer) {
  if (op.idempotency && op.caller === 'anyone' && !op.credentialField)
    throw new Error(`${op.id} does not say whose an Idempotency-Key is`)

  return (req: FastifyRequest, { body }: AnyCall, idempotencyKey: string) => {
    const input = {
      scope: scopeOf(op, req, body),
      operationId: op.id,
      path: pathOf(req.url),
      idempotencyKey,
      vault: ctx.vault,
    }
    const proof = proofOf(op, req)?.toString('base64url')
    // For an operation without a body, an empty body and {} are the same request.
    const bytes = (op.body && bodyOf(req)) ?? nothing
    const claim = makeClaim({ ...input, body: bytes, nowMs: Date.now(), serialise, proof })
    return { claim, open: (sealed: Buffer) => openAnswer(input, sealed) }
  }
}

/**
 * What a repeat must prove if its credential may no longer exist: the collection's token, or the key that the
 * request itself expired.
 */
function proofOf(op: Operation, req: FastifyRequest): Buffer | undefined {
  // A session shows no token of the collection: without this, a key without the token could read its answers.
  if (req.consoleSession?.key) return hashCredential(`console ${req.consoleSession.member?.id ?? req.consoleSession.id}`)
  if (op.capability) return hashCredential(collectionTokenOf(req) ?? '')
  return op.endsCaller && Buffer.from(presentedKeyHash(req.headers), 'base64')
}

/**
 * The scope of an Idempotency-Key: the tenant or, without one, the session, the operator's credential or the
 * credential in the body.
 */
function scopeOf({ caller, credentialField }: Operation, req: FastifyRequest, body: unknown): string {
  if (req.tenantKey) return req.tenantKey.tenantId
  // The bootstrap token keeps the scope that it had before there were operator credentials.
  if (req.operator) return req.operator.name === null ? caller : `${caller}:${req.operator.id}`
  if (req.session) return `${caller}:${req.session.id}`
  if (!credentialField) return caller
  return `${caller}:${hashCredential(credentialIn(body, credentialField)).toString('base64url')}`
}

function credentialIn(body: unknown, field: string): string {
  const credential = isJsonObject(body) ? body[field] : undefined
  if (typeof credential !== 'string') throw new Error(`the contract lets a body pass without ${field}`)
  return credential
}

type Run = (call: AnyCall, claim: Claim | undefined) => Promise<unknown>

/** Calls a handler of one of the kinds whose answer the gateway sends. */
function runner(ctx: Context, { id }: Operation, { kind, handle }: AnsweringHandler): Run {
  if (kind === 'read') return recordingRefusals(ctx, handle)
  if (kind === 'write')
    return recordingRefusals(ctx, (call, claim) =>
      claimedTransaction(ctx.db.lane(laneOf(id, call)), claim, async (tx) => {
        const answer = await handle({ ...call, tx })
        await recordAudit(tx, call.audit, (answer as Answer).data)
        return answer
      }),
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
    const bytes = bodyOf(req)
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
    const token = collectionTokenOf(req)
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

function collectionTokenOf(req: FastifyRequest): string | undefined {
  const token = req.headers['x-collection-token']
  return typeof token === 'string' ? token : undefined
}

/** The path's parameters that are ids, with their kinds. A value without the form of an id cannot exist. */
function idParamsOf(op: Operation): [string, IdKind][] {
  return Object.entries(op.params?.properties ?? {}).flatMap(([name, schema]) => {
    const kind = idKindOf(schema)
    return kind ? [[name, kind] satisfies [string, IdKind]] : []
  })
}

/** A caller without access is refused before the header is. */
async function idempotencyKeyOf(
  op: Operation,
  req: FastifyRequest,
  assertAccess: (() => Promise<unknown>) | undefined,
): Promise<string | undefined> {
  if (!op.idempotency) return undefined
  const key = req.headers['idempotency-key']
  if (key === undefined) {
    if (op.idempotency === 'required') throw new ApiError('idempotency_key_required')
    return undefined
  }
  if (typeof key === 'string' && isIdempotencyKey(key)) return key
  await assertAccess?.()
  throw invalid('Idempotency-Key', 'must be 1 to 255 printable ASCII characters')
}

function send(
  ctx: Context,
  op: Operation,
  req: FastifyRequest,
  reply: FastifyReply,
  sent: SentAnswer,
  answer?: Answer,
): FastifyReply {
  const spec = op.answers[sent.status]
  recordAnswer(ctx, req, reply, op.id, sent.status)
  reply.code(sent.status)
  if (spec?.oneTimeSecret) reply.header('cache-control', 'no-store')
  if (spec?.maxAgeSeconds) reply.header('cache-control', `public, max-age=${spec.maxAgeSeconds}`)
  if (!spec?.data) {
    countUsage(ctx, req, '')
    return reply.send()
  }
  reply.header('content-type', spec.raw === 'text/html' ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8')
  if (answer?.headers) reply.headers(answer.headers)
  if (answer?.etag) {
    const hashed = answer.etag === true ? sent.body : answer.etag
    const etag = `${answer.etag === true ? '' : 'W/'}"${createHash('sha256').update(hashed).digest('base64url').slice(0, 27)}"`
    reply.header('etag', etag)
    if (matches(req.headers['if-none-match'], etag)) {
      countUsage(ctx, req, '')
      return reply.code(304).send()
    }
  }
  countUsage(ctx, req, sent.body)
  return sendBody(req, reply, sent.body)
}

/** If-None-Match (RFC 9110, 13.1.2): a list of tags, compared weakly, or an asterisk. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const weak = (tag: string) => tag.trim().replace(/^W\//, '')
  return header === '*' || header.split(',').some((tag) => weak(tag) === weak(etag))
}
