import { invalid } from '#errors/api-error.ts'
import { findLaunchable } from '#features/agents/status.ts'
import type { HandlerOf } from '#features/handler.ts'
import { signQuote } from '../quote.ts'

export const createQuote: HandlerOf<'createQuote'> = async ({ ctx, tenantId, body }) => {
  const agent = await findLaunchable(ctx.db, tenantId, body.agent_id)
  if (!agent) throw invalid('/agent_id', 'is not an agent that you can launch')
  const maxMinutes = Math.min(body.max_minutes ?? agent.maxMinutes, agent.maxMinutes)
  const { quote, validUntil } = await signQuote(ctx, tenantId, agent, maxMinutes)
  return { status: 201, data: { quote, price_credits: agent.priceCredits, valid_until: validUntil } }
}
