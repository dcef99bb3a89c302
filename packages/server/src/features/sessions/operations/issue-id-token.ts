import { parseDeviceKey } from '@atrium/identity/device-key'
import { decodeJwt } from 'jose'
import { ApiError, invalid } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { isHeldByOperator } from '#features/agents/find-launchable.ts'
import { isActive } from '../session.ts'

export const issueIdToken: HandlerOf<'issueIdToken'> = async ({ ctx, params, body, session }) => {
  if (params.id !== session.id) throw new ApiError('not_found')
  // A launcher must not impersonate the agent: it could enter every room that admits the agent.
  if (session.heldBy !== 'agent') {
    throw new ApiError('not_authorized', { message: 'Only the agent’s own control token gets an ID token.' })
  }
  if (!isActive(session.status)) throw new ApiError('state_conflict', { message: 'The session has ended.' })
  if (await isHeldByOperator(ctx.db, session.agentTenantId, session.agentId))
    throw new ApiError('not_authorized', { message: 'The agent, or its tenant, is suspended.' })
  const device = parseDeviceKey(body.spk)
  if (!device) throw invalid('/spk', 'is not the public part of an EC P-256 key')
  const agent = { id: session.agentId, name: session.agent.name }
  const idToken = await ctx.agentIssuer.issue(agent, device.jwk, new Date(session.expiresAt))
  return { status: 200, data: { id_token: idToken, expires_at: new Date(decodeJwt(idToken).exp! * 1_000).toISOString() } }
}
