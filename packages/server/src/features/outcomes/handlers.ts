import { isJsonObject } from '@atrium/contract/strict-json'
import type { Operation } from '@atrium/contract/operation'
import { servedOperations } from '@atrium/contract/table'
import { ApiError, invalid } from '#errors/api-error.ts'
import { hashCredential } from '#crypto/random.ts'
import { checkCapability } from '#features/collections/check-capability.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import type { ResolvedKey } from '#features/keys/key.ts'
import { askedClaim, openAnswer } from '#http/idempotency/claim.ts'
import { findOutcome } from '#http/idempotency/run-claimed.ts'
import { decodePath } from '#http/parse.ts'

type Answer = Awaited<ReturnType<HandlerOf<'lookUpOutcome'>>>

const noRecord: Answer = { status: 200, data: { state: 'none' } }

/** The operations that a tenant's key calls with an Idempotency-Key, each with a pattern of its paths. */
const keyedOperations = new Map(
  servedOperations
    .filter(
      ({ caller, sessionOnly, idempotency }) =>
        idempotency !== undefined && !sessionOnly && (caller === 'secret' || caller === 'publishable'),
    )
    .map((op) => [op.id, { op, pattern: pathPattern(op) }]),
)

function pathPattern({ path, status }: Operation): RegExp {
  const parts = path.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(/\{(\w+)\}/g, '(?<$1>[^/?#]+)')
  // recheck: fixed texts with one run of non-separators for each parameter, which no text can match in two ways.
  return new RegExp(`^${status === 'legacy' ? '' : '/v1'}${parts}$`)
}

const lookUpOutcome: HandlerOf<'lookUpOutcome'> = async ({ ctx, key, tenantId, headers, body }) => {
  const path = decodePath(body.path)
  const { op, params } = askedOperation(body.operation, path)
  assertMayCall(op, key)
  const token = headers['x-collection-token']
  const request = { scope: tenantId, operationId: op.id, path, idempotencyKey: body.idempotency_key }
  const claim = askedClaim(ctx.vault, { ...request, bodyDigest: Buffer.from(body.body_sha256, 'hex') })
  const find = () => findOutcome(ctx.db, claim, (sealed) => openAnswer({ ...request, vault: ctx.vault }, sealed))
  if (op.capability) {
    const sent = typeof token === 'string' ? token : undefined
    try {
      checkCapability(op.capability, sent, await ctx.collections.get(tenantId, params['id'] ?? ''))
    } catch (refusal) {
      // As for a repeat: after the collection or its token is gone, the token of the request still proves its sender.
      if (!(refusal instanceof ApiError) || refusal.status >= 500) throw refusal
      const outcome = await find()
      if (outcome.state !== 'done' || outcome.answer.proof !== hashCredential(sent ?? '').toString('base64url')) throw refusal
      return answerOf(outcome)
    }
  }
  return answerOf(await find())
}

function askedOperation(operation: string, path: string) {
  const asked = keyedOperations.get(operation)
  if (!asked) throw invalid('/operation', 'must be an operation that a tenant’s key calls with an Idempotency-Key')
  const params = asked.pattern.exec(path)
  if (!params)
    throw invalid('/path', `must be a path of ${operation}, such as ${asked.op.status === 'legacy' ? '' : '/v1'}${asked.op.path}`)
  return { op: asked.op, params: params.groups ?? {} }
}

/** What the gateway checks before a repeat is replayed. */
function assertMayCall({ caller, role }: Operation, key: ResolvedKey): void {
  if (caller === 'secret' && key.kind !== 'secret') throw new ApiError('secret_key_required')
  if (role === 'issuer' && !key.roles.includes('issuer')) throw new ApiError('issuer_role_required')
}

function answerOf(outcome: Awaited<ReturnType<typeof findOutcome>>): Answer {
  if (outcome.state === 'none') return noRecord
  if (outcome.state === 'in_progress') return { status: 200, data: { state: 'in_progress' } }
  const { answer, expiresAt } = outcome
  const body: unknown = answer.body === '' ? undefined : JSON.parse(answer.body)
  return {
    status: 200,
    data: { state: 'done', status: answer.status, ...(isJsonObject(body) ? { answer: body } : {}), expires_at: expiresAt },
  }
}

export const outcomeHandlers = { lookUpOutcome } satisfies Partial<Handlers>
