import { ratePolicies, type RatePolicy } from '@atrium/contract/limits'
import type { FastifyReply } from 'fastify'
import type { ResolvedKey } from '#features/keys/key.ts'
import { ApiError } from '#errors/api-error.ts'
import { limitAddress } from '@atrium/traffic/client-address'
import type { RateCheck, RateDecision } from '@atrium/traffic/gcra'

export type Policies = Record<keyof typeof ratePolicies, RatePolicy>

/** The policies times the configured factor. */
export function scaledPolicies(factor: number): Policies {
  const scale = (policy: RatePolicy): RatePolicy => ({
    name: policy.name,
    perSecond: policy.perSecond * factor,
    burst: Math.max(1, Math.round(policy.burst * factor)),
  })
  return {
    tenant: scale(ratePolicies.tenant),
    secretKey: scale(ratePolicies.secretKey),
    publishableKey: scale(ratePolicies.publishableKey),
    address: scale(ratePolicies.address),
  }
}

/** What a request with this key counts against. */
export function keyChecks(policies: Policies, key: ResolvedKey, address: string): RateCheck[] {
  const own: RateCheck =
    key.kind === 'secret'
      ? { key: `s:${key.id}`, policy: policies.secretKey }
      : { key: `p:${key.id}:${limitAddress(address)}`, policy: policies.publishableKey }
  return [{ key: `t:${key.tenantId}`, policy: policies.tenant }, own]
}

/** What a request without a key, or with a wrong one, counts against. */
export function addressChecks(policies: Policies, address: string): RateCheck[] {
  return [{ key: `a:${limitAddress(address)}`, policy: policies.address }]
}

const policyHeaders = new WeakMap<RatePolicy, string>()

/** The RateLimit headers of draft-ietf-httpapi-ratelimit-headers, about the tightest limit; throws when it is over. */
export function applyDecision(reply: FastifyReply, decision: RateDecision): void {
  const { policy } = decision
  let policyHeader = policyHeaders.get(policy)
  if (policyHeader === undefined) {
    policyHeader = `"${policy.name}";q=${policy.burst};w=${Math.max(1, Math.round(policy.burst / policy.perSecond))}`
    policyHeaders.set(policy, policyHeader)
  }
  const seconds = Math.max(1, Math.ceil(decision.resetMs / 1_000))
  reply.header('ratelimit-policy', policyHeader)
  reply.header('ratelimit', `"${policy.name}";r=${decision.remaining};t=${seconds}`)
  if (!decision.allowed) throw new ApiError('rate_limited', { retryAfterSeconds: seconds })
}
