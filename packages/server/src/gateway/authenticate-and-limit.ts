import { toError } from '#errors/caught.ts'
import type { Operation } from '@atrium/contract/operation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import type { ConsoleSession } from '#features/console/session.ts'
import type { ResolvedKey } from '#features/keys/key.ts'
import {
  authenticateBootstrap,
  authenticateOperator,
  type OperatorIdentity,
} from '#features/operator-credentials/authenticate-operator.ts'
import type { HeldSession } from '#features/sessions/session.ts'
import { ApiError } from '#errors/api-error.ts'
import { assertNoKeyInQuery, authenticateControl, authenticateKey, connectionKeyHash, findEndedKey } from './authenticate.ts'
import { assertCsrf, assertRole, authenticateSession, sessionFor } from './authenticate-session.ts'
import type { RateCheck } from '@atrium/traffic/gcra'
import { isAnsweredUnconfirmed, unconfirmedError } from './refuse-unconfirmed.ts'
import { addressChecks, applyDecision, keyChecks, sharedPolicies } from './rate-limit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on operations that take a tenant key. */
    tenantKey: ResolvedKey | undefined
    /** Set on operations that take a control token. */
    session: HeldSession | undefined
    /** Set if a session of the console made the request. A session of a tenant also sets tenantKey. */
    consoleSession: ConsoleSession | undefined
    /** Set on operations of operators. */
    operator: OperatorIdentity | undefined
    /**
     * Set if the key has expired. The request may then only receive the stored answer of the request that expired
     * the key.
     */
    onlyReplay: ApiError | undefined
  }
}

type Done = (error?: Error) => void

/** A key that leaked must not be able to add members, who would stay when the key is revoked. */
const keyRefused = () =>
  new ApiError('role_not_allowed', { message: 'No key may call this operation: only a session of an owner in the console.' })

/**
 * Authenticates the caller and counts the request, before the body is read, so that an unauthenticated request costs
 * little. Runs synchronously if the key is cached and the limits are counted in memory, which is nearly always the
 * case: that saves a promise per request.
 */
export function authenticateAndLimit(
  ctx: Context,
  op: Pick<Operation, 'caller'> & Partial<Operation>,
): (req: FastifyRequest, reply: FastifyReply, done: Done) => void {
  const factor = ctx.config.rateLimitFactor || 1
  const policies = sharedPolicies(factor, 100)
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

  const countKey = (req: FastifyRequest, reply: FastifyReply, key: ResolvedKey, done: Done, refusal?: Error) =>
    count(reply, keyChecks(sharedPolicies(factor, key.ratePercent), key, req.ip), done, refusal)

  const countAddress = (req: FastifyRequest, reply: FastifyReply, done: Done, refusal?: Error) =>
    count(reply, addressChecks(policies, req.ip), done, refusal)

  /** Counts before the look-up: a guess that is over the limit is not looked up. */
  const countFirst = (req: FastifyRequest, reply: FastifyReply, done: Done, lookUp: () => void) =>
    countAddress(req, reply, (refusal) => (refusal ? done(refusal) : lookUp()))

  const enterSession = (req: FastifyRequest, reply: FastifyReply, token: string, done: Done) => {
    // The sessions of the snapshot are not restored, but rights of members may have changed since.
    if (ctx.restoreWindow.isUnconfirmed) return countAddress(req, reply, done, unconfirmedError())
    const enter = (session: ConsoleSession) => {
      assertCsrf(session, req.headers)
      assertRole(session, op)
      req.consoleSession = session
      const { key } = session
      if (!key) req.operator = { id: session.id, name: 'console' }
      req.tenantKey = key
      if (key) countKey(req, reply, key, done)
      else done()
    }
    countFirst(req, reply, done, () => void authenticateSession(ctx, token).then(enter).catch(done))
  }

  return (req, reply, done) => {
    const accept = (key: ResolvedKey) => {
      if (op.sessionOnly) return countKey(req, reply, key, done, keyRefused())
      req.tenantKey = key
      ctx.keyUse.note(key)
      countKey(req, reply, key, done)
    }
    // A key that was expired by this very request may still read the stored answer of that request.
    const refuseUnlessReplay = (thrown: unknown, refuseWith: (error?: Error) => void) => {
      const error = toError(thrown)
      if (!op.endsCaller || !(error instanceof ApiError) || error.code !== 'unauthorized') return refuseWith(error)
      findEndedKey(ctx, req.headers)
        // If the look-up fails for any reason, the key is not accepted.
        .catch(() => undefined)
        .then((key) => {
          req.tenantKey = key
          req.onlyReplay = key && error
          refuseWith(key ? undefined : error)
        })
        .catch(done)
    }
    // A wrong key counts against the IP address, so guessing is as slow as calling without a key.
    const refuse = (error: unknown) =>
      refuseUnlessReplay(error, (refusal) => {
        if (refusal !== undefined && !(refusal instanceof ApiError)) return done(refusal)
        countAddress(req, reply, done, refusal)
      })
    try {
      if (ctx.restoreWindow.isUnconfirmed && !isAnsweredUnconfirmed(op, req.headers))
        return countAddress(req, reply, done, unconfirmedError())
      const sessionToken = sessionFor(ctx, op, req.headers)
      if (sessionToken !== undefined) return enterSession(req, reply, sessionToken, done)
      if (op.caller === 'anyone') return countAddress(req, reply, done)
      if (op.caller === 'control') {
        const enter = (session: HeldSession) => {
          req.session = session
          done()
        }
        return countFirst(req, reply, done, () => void authenticateControl(ctx, req.headers).then(enter, done))
      }
      if (op.caller === 'operator') {
        const enter = (operator: OperatorIdentity) => {
          req.operator = operator
          done()
        }
        const operator = authenticateBootstrap(ctx, req.headers)
        if (operator) return enter(operator)
        // A credential may have been revoked after the snapshot. The bootstrap token is not in the database.
        if (ctx.restoreWindow.isUnconfirmed) return countAddress(req, reply, done, unconfirmedError())
        return countFirst(req, reply, done, () => void authenticateOperator(ctx, req.headers).then(enter, done))
      }
      if (req.headers.authorization === undefined && req.headers['x-api-key'] === undefined) assertNoKeyInQuery(req.url)
      const keyHash = connectionKeyHash(req.raw.socket, req.headers)
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
      // A key that was found before is not a guess: it passes even from an IP address over its limit.
      if (ctx.keyCache.knows(keyHash)) return enter(refuse)
      countFirst(req, reply, done, () => enter((error) => refuseUnlessReplay(error, done)))
    } catch (error) {
      refuse(error)
    }
  }
}
