import { isJsonObject } from '@atrium/contract/strict-json'
import { createHash } from 'node:crypto'
import type { Operation } from '@atrium/contract/operation'
import { idKindOf } from '@atrium/contract/schemas'
import { isId, type IdKind } from '@atrium/contract/tokens'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { recordAnswer } from '#features/record-answer.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { assertRoom, sendBody } from '#http/bound-unread.ts'
import type { Call, HandlerKinds, Handlers } from '#features/handler.ts'
import { checkCapability } from '#features/collections/check-capability.ts'
import { countUsage } from './count-usage.ts'
import { isIdempotencyKey, makeClaim, openAnswer, type Claim, type SentAnswer } from '#http/idempotency/claim.ts'
import { claimedTransaction } from '#http/idempotency/claimed-transaction.ts'
import { replayOrRefuse, runClaimed, type ClaimedAnswer } from '#http/idempotency/run-claimed.ts'
import { pageTurns } from '#http/page-turns.ts'
import { assertNoBody, compileCheck, compileQuery, parseBody, bodyOf, pathOf } from '#http/parse.ts'
import { compileAnswers, type Answer } from '#http/serialise.ts'
import { hashCredential } from '#crypto/random.ts'
import { limitAddress } from '@atrium/traffic/client-address'
import { presentedKeyHash } from './authenticate.ts'
import { notAnId } from './explain-not-found.ts'

type AnyCall = Call<Operation>
type AnyHandlers = HandlerKinds<Operation>
type AnyHandler = Handlers[keyof Handlers]

/** Makes the route handler of an operation: all that its contract asks for, and then the feature's own handler. */
export function serve(ctx: Context, op: Operation, handler: AnyHandler) {
  const readCall = hideFromEnded(callReader(ctx, op))
  const loadCollection = collectionLoader(ctx, op)
  if (op.kind === 'stream') {
    const stream = handler as AnyHandlers['stream']
    return async (req: FastifyRequest, reply: FastifyReply) =>
      stream({
        ...(await loadCollection(req, readCall(req))),
        req,
        reply,
        keyHash: (req.tenantKey && presentedKeyHash(req.headers)) as never,
      })
  }
  const serialise = compileAnswers(op) as (answer: unknown) => SentAnswer
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
    const idempotencyKey = op.idempotency ? idempotencyKeyOf(op, req) : undefined
    if (idempotencyKey === undefined) {
      if (!isPaged) {
        const answer = (await run(call, undefined)) as Answer
        return send(ctx, op, req, reply, serialise(answer), answer)
      }
      // Not until it is sent: a reply is awaited until it was read, and who does not read would keep the turn.
      assertRoom(req, reply)
      const { answer, sent } = await pageTurns.run(req.tenantKey?.tenantId ?? limitAddress(req.ip), 1, async () => {
        const made = (await run(call, undefined)) as Answer
        return { answer: made, sent: serialise(made) }
      })
      return send(ctx, op, req, reply, sent, answer)
    }
    const { claim, open } = readClaim(req, asked, idempotencyKey)
    return claimed(await runClaimed(ctx.db, claim, async () => serialise(await run(call, claim)), open))
  }
}

/** Whose key has ended is told that, whatever else is wrong with the request. */
function hideFromEnded(read: ReturnType<typeof callReader>): typeof read {
  return (req) => {
    try {
      return read(req)
    } catch (error) {
      throw req.onlyReplay ?? error
    }
  }
}

const noBody = Buffer.alloc(0)

/** Makes a request's claim on its Idempotency-Key, and what opens the answer that was kept of it. */
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
    // An operation without a body is asked the same by none and by {}.
    const bytes = (op.body && bodyOf(req)) ?? noBody
    const claim = makeClaim({ ...input, body: bytes, nowMs: Date.now(), serialise, proof })
    return { claim, open: (sealed: Buffer) => openAnswer(input, sealed) }
  }
}

/**
 * What a repeat has to prove where what it is let in by may be gone: a collection's token, or the key that the request
 * itself ended.
 */
function proofOf(op: Operation, req: FastifyRequest): Buffer | undefined {
  if (op.capability) return hashCredential(collectionTokenOf(req) ?? '')
  return op.endsCaller && Buffer.from(presentedKeyHash(req.headers), 'base64')
}

/**
 * Whose an Idempotency-Key is: the tenant's; without one, that of the session or of the credential in the body, or of
 * the one operator.
 */
function scopeOf({ caller, credentialField }: Operation, req: FastifyRequest, body: unknown): string {
  if (req.tenantKey) return req.tenantKey.tenantId
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

/**
 * One way to call the kinds of handlers whose answer the gateway sends. The compiler has checked each handler against
 * its kind: see Handlers.
 */
function runner(ctx: Context, { kind, ...op }: Operation, handler: AnyHandler): Run {
  if (kind === 'read') return handler as AnyHandlers['read']
  if (kind === 'write') {
    const write = handler as AnyHandlers['write']
    return (call, claim) => claimedTransaction(ctx.db.lane(laneOf(op.id, call)), claim, (tx) => write({ ...call, tx }))
  }
  if (kind !== 'claimed') throw new Error(`the gateway does not send the answers of ${op.id}`)
  const claimed = handler as AnyHandlers['claimed']
  return (call, claim) => claimed({ ...call, claim })
}

/** What an operation locks belongs to the collection, agent or session that it names first, or else to its tenant. */
function laneOf(operationId: string, { tenantId, params }: AnyCall): string {
  return `${tenantId ?? ''}/${Object.values(params)[0] ?? operationId}`
}

/**
 * Reads what is asked for, whether or not it may be: what has not even the form of the operation was never answered
 * otherwise.
 */
function callReader(ctx: Context, op: Operation): (req: FastifyRequest) => AnyCall {
  const checkBody = op.body && compileCheck(op.body)
  const readQuery = op.query && compileQuery(op.query)
  // A page for people has its own words for what is not there.
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
      address: req.ip,
      tenantId: req.tenantKey?.tenantId,
      key: req.tenantKey,
      session: req.session,
      collection: undefined,
      owner: false,
    }
    return call as AnyCall
  }
}

/** Looks up the collection in the path and checks what the caller can prove about it. */
function collectionLoader(ctx: Context, op: Operation): (req: FastifyRequest, call: AnyCall) => AnyCall | Promise<AnyCall> {
  const { capability } = op
  return (req, call) => {
    if (!capability || !req.tenantKey) return call
    const params = req.params as Record<string, string>
    return ctx.collections.get(req.tenantKey.tenantId, params['id'] ?? '').then((collection) => {
      const owner = checkCapability(capability, collectionTokenOf(req), collection)
      return { ...call, collection, owner } as unknown as AnyCall
    })
  }
}

function collectionTokenOf(req: FastifyRequest): string | undefined {
  const token = req.headers['x-collection-token']
  return typeof token === 'string' ? token : undefined
}

/** The path's parameters that are ids, with their kinds: a value that has not the form of an id names nothing. */
function idParamsOf(op: Operation): [string, IdKind][] {
  return Object.entries(op.params?.properties ?? {}).flatMap(([name, schema]) => {
    const kind = idKindOf(schema)
    return kind ? [[name, kind] satisfies [string, IdKind]] : []
  })
}

function idempotencyKeyOf(op: Operation, req: FastifyRequest): string | undefined {
  const key = req.headers['idempotency-key']
  if (key === undefined) {
    if (op.idempotency === 'required') throw new ApiError('idempotency_key_required')
    return undefined
  }
  if (typeof key !== 'string' || !isIdempotencyKey(key))
    throw invalid('Idempotency-Key', 'must be 1 to 255 printable ASCII characters')
  return key
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

/** If-None-Match (RFC 9110, 13.1.2): a list of tags, compared weakly, or a star. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const weak = (tag: string) => tag.trim().replace(/^W\//, '')
  return header === '*' || header.split(',').some((tag) => weak(tag) === weak(etag))
}
