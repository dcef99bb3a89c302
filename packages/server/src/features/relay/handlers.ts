import { notConfigured } from '#errors/api-error.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { turnCredentials, turnTtlSeconds } from './turn-credentials.ts'

const getTurnCredentials: HandlerOf<'getTurnCredentials'> = async ({ ctx: { relay }, tenantId }) => {
  if (!relay) throw notConfigured('This installation has no relay. Its operator can set TURN_URLS and TURN_SECRET.')
  const { username, credential, expiresAt } = turnCredentials(relay.secret, tenantId, Date.now())
  return {
    status: 200,
    data: {
      iceServers: [{ urls: relay.urls, username, credential }],
      ttl: turnTtlSeconds,
      expires_at: expiresAt.toISOString(),
    },
  }
}

export const relayHandlers = { getTurnCredentials } satisfies Partial<Handlers>
