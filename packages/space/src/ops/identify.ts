import { type Account, type Admission, type Agent, admit, admitAgent, type ListStatus } from '@atrium/identity/admit'
import { isAgentToken } from '@atrium/identity/agent-token'
import { ProviderUnavailable } from '@atrium/identity/provider-unavailable'
import type { SpaceContext, TrustedIssuer } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'

/** An identity, and how long the token proves it. */
export type Proven = Principal & { untilMs: number }

/** The identity that a token proves: a person's account, or an agent; never both. */
export type Principal = { account: Account; agent?: undefined } | { agent: Agent; account?: undefined }

interface ShownCredentials {
  idToken: unknown
  spk: unknown
}

type FindListStatus = (principal: Principal) => ListStatus

/**
 * Returns whom idToken and spk prove. Throws with the reasons of the contract. The identity provider proves
 * accounts, the platform proves agents, and neither proves the other: the token's type, which is part of the signed
 * header, decides which of the two is used.
 */
export async function identify(ctx: SpaceContext, shown: ShownCredentials, findListStatus: FindListStatus): Promise<Proven> {
  if (sent(shown.idToken) === undefined || sent(shown.spk) === undefined) throw new SpaceError('not_authorized', 'unsigned')
  try {
    return await (isAgentToken(shown.idToken) ? identifyAgent : identifyAccount)(ctx, shown, findListStatus)
  } catch (error) {
    if (error instanceof ProviderUnavailable)
      throw new SpaceError('unavailable', 'the keys that tokens are verified with cannot be had', 30)
    throw error
  }
}

/** The credential, or undefined if there is none: clients also send null or an empty text. Any other type is malformed. */
export function sent<Value>(value: Value): Value | undefined {
  return value === null || value === '' ? undefined : value
}

async function identifyAccount(
  { provider }: SpaceContext,
  shown: ShownCredentials,
  findListStatus: FindListStatus,
): Promise<Proven> {
  if (!provider) throw new SpaceError('unavailable', 'no identity provider is configured here')
  const { principal: account, untilMs } = admitted(
    await admit(shown, expectedOf(provider), async (account) => findListStatus({ account })),
  )
  return { account, untilMs }
}

async function identifyAgent(
  { platform }: SpaceContext,
  shown: ShownCredentials,
  findListStatus: FindListStatus,
): Promise<Proven> {
  if (!platform) throw new SpaceError('not_authorized', 'token: bad_issuer')
  const { principal: agent, untilMs } = admitted(
    await admitAgent(shown, expectedOf(platform), async (agent) => findListStatus({ agent })),
  )
  return { agent, untilMs }
}

function expectedOf(issuer: TrustedIssuer) {
  return { ...issuer, nowMs: Date.now() }
}

function admitted<Found>(admission: Admission<Found>) {
  if (!admission.ok) throw new SpaceError('not_authorized', admission.reason)
  return admission
}
