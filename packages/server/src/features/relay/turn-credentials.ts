import { createHmac } from 'node:crypto'

export interface Relay {
  urls: string[]
  /** The secret is shared with the relay. */
  secret: string
}

export interface TurnCredentials {
  username: string
  credential: string
  expiresAt: Date
}

export const turnTtlSeconds = 3_600

/**
 * Follows coturn's REST scheme (draft-uberti-behave-turn-rest-00). The relay knows only the shared secret, so the user
 * name contains the expiry, and the password proves the name. The relay counts its quotas by what follows the colon:
 * the tenant.
 */
export function turnCredentials(secret: string, tenantId: string, nowMs: number): TurnCredentials {
  const expiry = Math.floor(nowMs / 1_000) + turnTtlSeconds
  const username = `${expiry}:${tenantId}`
  return {
    username,
    credential: createHmac('sha1', secret).update(username).digest('base64'),
    expiresAt: new Date(expiry * 1_000),
  }
}
