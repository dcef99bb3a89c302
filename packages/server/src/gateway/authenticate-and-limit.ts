import { toError } from '#errors/caught.ts'
import type { Operation } from '@atrium/contract/operation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import type { ResolvedKey } from '#features/keys/key.ts'
import type { HeldSession } from '#features/sessions/session.ts'
import { ApiError } from '#errors/api-error.ts'
import {
  assertNoKeyInQuery,
  authenticateControl,
  authenticateKey,
  authenticateOperator,
  findEndedKey,
  presentedKeyHash,
} from './authenticate.ts'
import type { RateCheck } from '@atrium/traffic/gcra'
import { addressChecks, applyDecision, keyChecks, scaledPolicies } from './rate-limit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on operations that take a tenant key. */
    tenantKey: ResolvedKey | undefined
    /** Set on operations that take a control token. */
    session: HeldSession | undefined
    /** Set where the key has ended, and only the kept answer of the request that ended it may be given. */
    onlyReplay: ApiError | undefined
  }
}

type Done = (error?: Error) => void

/**
 * Who calls, and not too often: runs before the body is read, so that a stranger costs nothing. Synchronous where
 * memory knows the key and counts the limits, which is nearly always: a promise less a request.
 */
export function authenticateAndLimit(
  ctx: Context,
  op: Pick<Operation, 'caller' | 'endsCaller'>,
): (req: FastifyRequest, reply: FastifyReply, done: Done) => void {
  const policies = scaledPolicies(ctx.config.rateLimitFactor || 1)
  const limited = ctx.config.rateLimitFactor > 0

  const count = (reply: FastifyReply, checks: RateCheck[], done: Done, refusal?: Error) => {
    if (!limited) return done(refusal)
    const decision = ctx.rateLimiter.take(checks)
    if (decision instanceof Promise) {
      decision.then((made) => applyDecision(reply, made)).then(() => done(refusal), done)
      return
    }
    try {
      applyDecision(reply, decision)
    } catch (error) {
      return done(toError(error))
    }
    done(refusal)
  }

  return (req, reply, done) => {
    const accept = (key: ResolvedKey) => {
      req.tenantKey = key
      ctx.keyUse.note(key)
      count(reply, keyChecks(policies, key, req.ip), done)
    }
    // A key that ended through this very request may still ask for the answer that was kept of it.
    const refuseUnlessReplay = (thrown: unknown, refuseWith: (error?: Error) => void) => {
      const error = toError(thrown)
      if (!op.endsCaller || !(error instanceof ApiError) || error.code !== 'unauthorized') return refuseWith(error)
      findEndedKey(ctx, req.headers)
        // Whatever keeps it from being found: the key does not open anything.
        .catch(() => undefined)
        .then((key) => {
          req.tenantKey = key
          req.onlyReplay = key && error
          refuseWith(key ? undefined : error)
        })
        .catch(done)
    }
    // A wrong key counts against the address: guessing is as slow as calling without one.
    const refuse = (error: unknown) =>
      refuseUnlessReplay(error, (refusal) => {
        if (refusal !== undefined && !(refusal instanceof ApiError)) return done(refusal)
        count(reply, addressChecks(policies, req.ip), done, refusal)
      })
    try {
      if (op.caller === 'anyone') return count(reply, addressChecks(policies, req.ip), done)
      if (op.caller === 'control') {
        const enter = (session: HeldSession) => {
          req.session = session
          done()
        }
        // Counted first: a guess that is over the limit is not looked up.
        return count(reply, addressChecks(policies, req.ip), (refusal) => {
          if (refusal) done(refusal)
          else authenticateControl(ctx, req.headers).then(enter, done)
        })
      }
      if (op.caller === 'operator') {
        authenticateOperator(ctx, req.headers)
        return done()
      }
      if (req.headers.authorization === undefined && req.headers['x-api-key'] === undefined) assertNoKeyInQuery(req.url)
      const keyHash = presentedKeyHash(req.headers)
      const enter = (refused: (error: unknown) => void) => {
        let key: ResolvedKey | Promise<ResolvedKey>
        try {
          key = authenticateKey(ctx, op.caller, keyHash)
        } catch (error) {
          return refused(error)
        }
        if (key instanceof Promise) key.then(accept, refused)
        else accept(key)
      }
      if (ctx.keyCache.knows(keyHash)) return enter(refuse)
      // Counted first, too, for it may be a guess. A key that was found before is none: it passes from an address over
      // its limit.
      count(reply, addressChecks(policies, req.ip), (refusal) => {
        if (refusal) done(refusal)
        else enter((error) => refuseUnlessReplay(error, done))
      })
    } catch (error) {
      refuse(error)
    }
  }
}
