import { createHash } from 'node:crypto'
import type { Operation } from '@atrium/contract/operation'
import { idPrefixes, isId, type IdKind } from '@atrium/contract/tokens'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { ApiError, invalid } from './api-error.ts'
import type { BatchedHandler, Call, Handler, StreamHandler, TxHandler } from './call.ts'
import { checkCapability } from './capability.ts'
import { countUsage } from './count-usage.ts'
import { isIdempotencyKey, makeClaim, openAnswer, type Claim, type SentAnswer } from './idempotency/claim.ts'
import { ClaimTaken, findReplay, runClaimed, type ClaimedAnswer } from './idempotency/run-claimed.ts'
import { insertClaim, updateAnswer } from './idempotency/store.ts'
import { limits } from '@atrium/contract/limits'
import { compileCheck, compileQuery, parseBody } from './parse.ts'
import { compileAnswers, type Answer } from './serialise.ts'
import { statement, type Tx } from '../db/database.ts'

type AnyCall = Call<Operation>
type AnyHandler = Handler<Operation> | TxHandler<Operation> | BatchedHandler<Operation>
export type ServedHandler = AnyHandler | StreamHandler<Operation>

/** Makes the route handler of an operation: all that its contract asks for, and then the feature's own handler. */
export function serve(ctx: Context, op: Operation, handler: ServedHandler) {
  const readCall = callReader(ctx, op)
  if ('stream' in handler) {
    return async (req: FastifyRequest, reply: FastifyReply) => handler.stream(ctx, await readCall(req), req, reply)
  }
  const serialise = compileAnswers(op) as (answer: unknown) => SentAnswer
  const run = runner(ctx, op, handler)

  return async (req: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const call = await readCall(req)
    const idempotencyKey = op.idempotency ? idempotencyKeyOf(op, req) : undefined
    if (idempotencyKey === undefined) {
      const answer = (await run(call, undefined)) as Answer
      return send(ctx, op, req, reply, serialise(answer), answer)
    }
    const claimInput = {
      scope: req.tenantKey?.tenantId ?? op.caller,
      operationId: op.id,
      path: req.url.split('?', 1)[0]!,
      idempotencyKey,
      vault: ctx.vault,
    }
    const claim = makeClaim({ ...claimInput, body: (req.body as Buffer | undefined) ?? noBody, nowMs: Date.now(), serialise })
    const open = (sealed: Buffer) => openAnswer(claimInput, sealed)
    const claimed = await runClaimed(ctx, claim, () => runOnce(ctx, run, call, claim, serialise, open), open)
    reply.header('idempotency-status', claimed.status).header('idempotency-expires', claimed.expiresAt)
    return send(ctx, op, req, reply, claimed.answer)
  }
}

const noBody = Buffer.alloc(0)

type Run = (call: AnyCall, claim: Claim | undefined) => Promise<unknown>

/** One way to call the three kinds of handlers. */
function runner(ctx: Context, op: Operation, handler: AnyHandler): Run {
  if (typeof handler !== 'function') return (call, claim) => handler.batched(ctx, call, claim)
  if (!op.idempotency) return (call) => (handler as Handler<Operation>)(ctx, call)
  return (call, claim) => ctx.db.transaction((tx) => runInTransaction(ctx, tx, handler as TxHandler<Operation>, call, claim))
}

const waitStatement = statement<never>('idempotency-wait', `select set_config('lock_timeout', $1, true)`)

/** The claim first: where the key is another's, nothing of the effect is even tried. */
async function runInTransaction(ctx: Context, tx: Tx, handler: TxHandler<Operation>, call: AnyCall, claim: Claim | undefined) {
  if (claim) {
    await tx.query(waitStatement, [`${limits.idempotencyWaitMs}ms`])
    if (!(await insertClaim(tx, claim))) throw new ClaimTaken()
  }
  const answer = await handler(ctx, tx, call)
  if (claim) await updateAnswer(tx, claim, claim.seal(answer))
  return answer
}

/** An error may stand before a kept answer (the collection closed since): the answer that was given once counts. */
async function runOnce(
  ctx: Context,
  run: Run,
  call: AnyCall,
  claim: Claim,
  serialise: (answer: unknown) => SentAnswer,
  open: (sealed: Buffer) => SentAnswer,
): Promise<SentAnswer> {
  try {
    return serialise(await run(call, claim))
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) {
      const replay: ClaimedAnswer | undefined = await findReplay(ctx, claim, open)
      if (replay) throw new ClaimTaken()
    }
    throw error
  }
}

function callReader(ctx: Context, op: Operation): (req: FastifyRequest) => AnyCall | Promise<AnyCall> {
  const checkBody = op.body && compileCheck(op.body)
  const readQuery = op.query && compileQuery(op.query)
  // A page for people has its own words for what is not there.
  const idParams = op.answers[404] ? [] : idParamsOf(op)

  return (req) => {
    if (op.role === 'issuer' && !req.tenantKey?.roles.includes('issuer')) throw new ApiError('issuer_role_required')
    const params = req.params as Record<string, string>
    for (const [name, kind] of idParams) if (!isId(kind, params[name] ?? '')) throw new ApiError('not_found')
    const bytes = req.body as Buffer | undefined
    const body = checkBody ? parseBody(bytes) : undefined
    checkBody?.(body)
    if (!checkBody && bytes && bytes.length > 0) throw invalid('', 'this operation takes no body')
    const query = readQuery ? readQuery(req.query as Record<string, unknown>) : {}
    const call = {
      params,
      query,
      body,
      headers: req.headers,
      tenant: req.tenantKey?.tenantId,
      key: req.tenantKey,
      session: req.session,
      collection: undefined,
      owner: false,
    }
    const { capability } = op
    if (!capability || !req.tenantKey) return call as AnyCall
    const token = req.headers['x-collection-token']
    return ctx.collections.get(req.tenantKey.tenantId, params['id'] ?? '').then((collection) => {
      const owner = checkCapability(capability, typeof token === 'string' ? token : undefined, collection)
      return { ...call, collection, owner } as unknown as AnyCall
    })
  }
}

/** The path's parameters and the kinds of id that they hold: one that has not the form of an id names nothing. */
function idParamsOf(op: Operation): [string, IdKind][] {
  const kinds = Object.entries(idPrefixes) as [IdKind, string][]
  const properties = (op.params as { properties?: Record<string, { pattern?: string }> } | undefined)?.properties ?? {}
  return Object.entries(properties).flatMap(([name, { pattern }]) => {
    const kind = kinds.find(([, prefix]) => pattern?.startsWith(`^${prefix}`))
    return kind ? [[name, kind[0]] as [string, IdKind]] : []
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
  ctx.metrics.answered(op.id, sent.status, reply.elapsedTime)
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
    const etag = `"${createHash('sha256').update(sent.body).digest('base64url').slice(0, 27)}"`
    reply.header('etag', etag)
    if (matches(req.headers['if-none-match'], etag)) {
      countUsage(ctx, req, '')
      return reply.code(304).send()
    }
  }
  countUsage(ctx, req, sent.body)
  return reply.send(sent.body)
}

/** If-None-Match (RFC 9110, 13.1.2): a list of tags, compared weakly, or a star. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
