import { limitAddress } from '@atrium/traffic/client-address'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { applyDecision, scaledPolicies } from './rate-limit.ts'

/**
 * Limits the readers of documents and metrics by address. Each has a count of its own: whoever reads documents takes
 * nothing from the requests that the same address makes, and a busy address can still be measured.
 */
export function limitReaders(
  { config, rateLimiter }: Pick<Context, 'config' | 'rateLimiter'>,
  what: 'documents' | 'metrics',
): (req: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const { address: policy } = scaledPolicies(config.rateLimitFactor || 1)
  return async (req, reply) => {
    if (config.rateLimitFactor === 0) return
    applyDecision(reply, await rateLimiter.take([{ key: `${what}:${limitAddress(req.ip)}`, policy }]))
  }
}
