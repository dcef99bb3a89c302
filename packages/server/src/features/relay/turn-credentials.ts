import { createHmac } from 'node:crypto'

export interface Relay {
  urls: string[]
  /** Shared with the relay. */
  secret: string
}

export interface TurnCredentials {
  username: string
  credential: string
  expiresAt: Date
}

export const turnTtlSeconds = 3_600

/**
 * By coturn's REST scheme (draft-uberti-behave-turn-rest-00): the relay shares nothing with us but the secret, so the name itself has to say
 * until when, and the password has to prove it. The relay counts its quotas by what follows the colon: by tenant.
 */
export function turnCredentials(secret: string, tenant: string, nowMs: number): TurnCredentials {
  const expiry = Math.floor(nowMs / 1_000) + turnTtlSeconds
  const username = `${expiry}:${tenant}`
  return {
    username,
    credential: createHmac('sha1', secret).update(username).digest('base64'),
    expiresAt: new Date(expiry * 1_000),
  }
}
