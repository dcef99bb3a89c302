import type { Operation } from '@atrium/contract/operation'
import { isJsonObject } from '@atrium/contract/strict-json'
import type { FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import type { Call } from '#features/handler.ts'
import { hashCredential } from '#crypto/random.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { isIdempotencyKey, makeClaim, openAnswer, type SentAnswer } from '#http/idempotency/claim.ts'
import { bodyFor, decodePath, pathOf } from '#http/parse.ts'
import { collectionTokenOf, presentedKeyHash } from './authenticate.ts'

/** The Idempotency-Key of an operation that takes one. A caller without access is refused before the header is. */
export async function idempotencyKeyOf(
  op: Operation,
  req: FastifyRequest,
  assertAccess: (() => Promise<unknown>) | undefined,
): Promise<string | undefined> {
  const key = req.headers['idempotency-key']
  if (key === undefined) {
    if (op.idempotency === 'required') throw new ApiError('idempotency_key_required')
    return undefined
  }
  if (typeof key === 'string' && isIdempotencyKey(key)) return key
  await assertAccess?.()
  throw invalid('Idempotency-Key', 'must be 1 to 255 printable ASCII characters')
}

const nothing = Buffer.alloc(0)
/** The proof of the many requests without a token, computed once. */
const proofOfNoToken = proofFor('')

/** Makes a request's claim on its Idempotency-Key, and the function that opens the stored answer. */
export function claimReader(ctx: Context, op: Operation, serialise: (answer: unknown) => SentAnswer) {
  if (op.idempotency && op.caller === 'anyone' && !op.credentialField)
    throw new Error(`${op.id} does not say whose an Idempotency-Key is`)

  if (op.idempotency && op.query && (op.capability || op.endsCaller)) throw new Error(`${op.id} needs two proofs for a repeat`)

  return (req: FastifyRequest, { body, query }: Pick<Call<Operation>, 'body' | 'query'>, idempotencyKey: string) => {
    const input = {
      scope: scopeOf(op, req, body),
      operationId: op.id,
      path: decodePath(pathOf(req.url)),
      idempotencyKey,
      vault: ctx.vault,
    }
    // For an operation without a body, an empty body and {} are the same request.
    const bytes = (op.body && bodyFor(op, req)) ?? nothing
    const proof = { proof: proofOf(op, req, query), bindsProof: op.query !== undefined }
    const claim = makeClaim({ ...input, ...proof, body: bytes, nowMs: Date.now(), serialise })
    return { claim, open: (sealed: Buffer) => openAnswer(input, sealed) }
  }
}

/**
 * What a repeat must prove if its credential may no longer exist: the collection's token, or the key that the
 * request itself expired. With query parameters, it is the hash of these: in that of the body, they would make a process
 * of the previous release refuse a repeat.
 */
function proofOf(op: Operation, req: FastifyRequest, query: Record<string, unknown>): string | undefined {
  if (op.query) return proofFor(`query ${JSON.stringify(Object.keys(op.query.properties).map((name) => query[name] ?? null))}`)
  // A session shows no token of the collection: without this, a key without the token could read its answers.
  if (req.consoleSession?.key) return proofFor(`console ${req.consoleSession.member?.id ?? req.consoleSession.id}`)
  if (op.capability) {
    const token = collectionTokenOf(req.headers)
    return token === undefined ? proofOfNoToken : proofFor(token)
  }
  return op.endsCaller && Buffer.from(presentedKeyHash(req.headers), 'base64').toString('base64url')
}

function proofFor(credential: string): string {
  return hashCredential(credential).toString('base64url')
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
