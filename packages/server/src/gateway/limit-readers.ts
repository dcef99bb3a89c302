import { limitAddress } from '@atrium/traffic/client-address'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { applyDecision, scaledPolicies } from './rate-limit.ts'

/**
 * Limits requests for documents, metrics and the console by IP address. Each has a separate count: reading documents does not
 * count towards the API limit of the address, and a busy address can still read metrics.
 */
export function limitReaders(
  { config, rateLimiter }: Pick<Context, 'config' | 'rateLimiter'>,
  what: 'documents' | 'metrics' | 'console' | 'signIn' | 'link',
): (req: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const policies = scaledPolicies(config.rateLimitFactor || 1)
  const policy = what === 'signIn' || what === 'link' ? policies.signIn : policies.address
  return async (req, reply) => {
    if (config.rateLimitFactor === 0) return
    applyDecision(reply, await rateLimiter.take([{ key: `${what}:${limitAddress(req.ip)}`, policy }]))
  }
}
