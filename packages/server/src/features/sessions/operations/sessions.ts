import { parseDeviceKey } from '@atrium/identity/device-key'
import { decodeJwt } from '#libraries/jose.js'
import { ApiError, invalid } from '#errors/api-error.ts'
import { isHeldByOperator } from '#features/agents/status.ts'
import { insertRating } from '#features/agents/store.ts'
import type { HandlerOf } from '#features/handler.ts'
import { endSession, joinSession } from '../session-transitions.ts'
import { isActive, statusView } from '../session.ts'
import { readTimeQuery } from '#http/time-page.ts'
import { listSessions as listRows } from '../list-store.ts'

export const getSession: HandlerOf<'getSession'> = ({ params, session }) => {
  if (params.id !== session.id) throw new ApiError('not_found')
  return Promise.resolve({ status: 200, data: statusView(session) })
}

export const listAgentTools: HandlerOf<'listAgentTools'> = ({ params, session }) => {
  if (params.agentId !== session.agentId)
    throw new ApiError('not_authorized', { message: 'The control token is of a session with another agent.' })
  return Promise.resolve({ status: 200, data: { tools: session.agent.tools } })
}

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
  const { exp } = decodeJwt(idToken)
  if (exp === undefined) throw new Error('an ID token was issued without an end')
  return { status: 200, data: { id_token: idToken, expires_at: new Date(exp * 1_000).toISOString() } }
}

export const markSessionJoined: HandlerOf<'markSessionJoined'> = async ({ tx, params, session }) => {
  if (params.id !== session.id) throw new ApiError('not_found')
  if (session.heldBy !== 'agent')
    throw new ApiError('not_authorized', { message: 'Only the agent’s own control token can report that it joined.' })
  const joined = await joinSession(tx, session)
  if (!joined) throw new ApiError('state_conflict', { message: 'The session has ended.' })
  return { status: 200, data: statusView(joined) }
}

export const stopSession: HandlerOf<'stopSession'> = async ({ tx, params, session }) => {
  if (params.id !== session.id) throw new ApiError('not_authorized', { message: 'The control token is of another session.' })
  await endSession(tx, session, { status: 'stopped' })
  return { status: 200, data: { sessionId: session.id, status: 'stopped' } }
}

export const rateAgent: HandlerOf<'rateAgent'> = async ({ tx, params, session, body }) => {
  const { agentId, agentTenantId } = session
  if (params.agentId !== agentId)
    throw new ApiError('not_authorized', { message: 'The control token is of a session with another agent.' })
  if (session.heldBy === 'agent') throw new ApiError('not_authorized', { message: 'An agent does not rate itself.' })
  if (session.joinedAt === null) throw new ApiError('state_conflict', { message: 'The agent has not joined the room yet.' })
  const rating = { sessionId: session.id, stars: body.stars }
  const stored = await insertRating(tx, agentTenantId, agentId, rating)
  if (!stored) throw new ApiError('state_conflict', { message: 'This session was rated already.' })
  return { status: 201, data: { agent_id: agentId, stars: body.stars, created_at: stored.createdAt } }
}

export const listSessions: HandlerOf<'listSessions'> = async ({ ctx, tenantId, query }) => {
  const { range, limit, cursorAfter } = readTimeQuery(`sessions:${tenantId}`, query)
  const { status, agent_id: agentId } = query
  const { sessions, last } = await listRows(ctx.db, tenantId, { status, agentId, range, limit })
  return { status: 200, data: sessions.map(statusView), nextCursor: cursorAfter(last) }
}
