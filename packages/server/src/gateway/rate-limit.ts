import { ratePolicies } from '@atrium/contract/limits'
import type { RatePolicy } from '@atrium/contract/request-limits'
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
    signIn: scale(ratePolicies.signIn),
  }
}

const policiesOf = new Map<number, Policies>()

/**
 * The policies of tenants with this share of the installation's rate, in percent: the same objects for all operations,
 * so that the checks of a key's last request are found again. Only operators set a share, so there are few.
 */
export function sharedPolicies(factor: number, percent: number): Policies {
  const share = (factor * percent) / 100
  let policies = policiesOf.get(share)
  if (!policies) {
    policies = scaledPolicies(share)
    policiesOf.set(share, policies)
  }
  return policies
}

interface KeyChecks {
  policies: Policies
  address: string
  checks: RateCheck[]
}

/** The checks of each key's last request. A key is mostly used from one address, and the texts are made once. */
const lastChecks = new WeakMap<ResolvedKey, KeyChecks>()

/** The limits of a request with this key. */
export function keyChecks(policies: Policies, key: ResolvedKey, address: string): RateCheck[] {
  const last = lastChecks.get(key)
  if (last?.policies === policies && last.address === address) return last.checks
  const checks = makeKeyChecks(policies, key, address)
  lastChecks.set(key, { policies, address, checks })
  return checks
}

function makeKeyChecks(policies: Policies, key: ResolvedKey, address: string): RateCheck[] {
  const own: RateCheck =
    key.kind === 'secret'
      ? { key: `s:${key.id}`, policy: policies.secretKey }
      : { key: `p:${key.id}:${limitAddress(address)}`, policy: policies.publishableKey }
  return [{ key: `t:${key.tenantId}`, policy: policies.tenant }, own]
}

/** The limits of a request without a key or with a wrong one. */
export function addressChecks(policies: Policies, address: string): RateCheck[] {
  return [{ key: `a:${limitAddress(address)}`, policy: policies.address }]
}

const policyHeaders = new WeakMap<RatePolicy, string>()

/**
 * Sets the RateLimit headers (draft-ietf-httpapi-ratelimit-headers) for the tightest limit. Throws if it is
 * exceeded.
 */
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
