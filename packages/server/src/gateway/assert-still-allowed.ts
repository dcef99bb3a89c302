import type { Operation } from '@atrium/contract/operation'
import type { FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { presentedSession } from '#features/console/session.ts'
import { authenticateBootstrap, authenticateOperator } from '#features/operator-credentials/authenticate-operator.ts'
import { authenticateControl, authenticateKey, presentedKeyHash } from './authenticate.ts'
import { assertRole, findSession } from './authenticate-session.ts'

/**
 * Checks the caller again, if the body of the request arrives slowly or the answer takes minutes. Throws if a new
 * request of the caller would be refused: its session, key or credential has ended, the member has another role, or
 * the tenant is suspended. A control token is valid after the end of its session too, so the request gets the session
 * as it is now.
 */
export async function assertStillAllowed(ctx: Context, op: Operation, req: FastifyRequest): Promise<void> {
  const { headers, consoleSession, operator, tenantKey, session } = req
  if (consoleSession) assertRole(await findSession(ctx, presentedSession(ctx, headers) ?? ''), op)
  else if (operator) {
    if (!authenticateBootstrap(ctx, headers)) await authenticateOperator(ctx, headers)
  } else if (tenantKey) await authenticateKey(ctx, op.caller, presentedKeyHash(headers))
  else if (session) req.session = await authenticateControl(ctx, headers)
}
