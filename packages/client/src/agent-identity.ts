import { decodeBase64url } from '@atrium/sealing/base64url'
import type { AtriumClient } from './call.ts'
import type { DeviceKey } from './device-key.ts'
import type { RoomIdentity } from './room-call.ts'

/** While the old token is valid, a failed renewal is not attempted again before this. */
const pauseMs = 3_000
/** The token is renewed after this fraction of its lifetime. The rest is longer than a long poll. */
const renewedAfter = 0.25

/**
 * The identity of an agent in the room of its session: its device key, and an ID token that is renewed before it
 * expires.
 */
export interface AgentIdentity {
  get: () => Promise<RoomIdentity>
  /** Call this when the token was rejected as expired: the next call fetches a new one. */
  expire: () => void
}

type Issuing = Pick<AtriumClient, 'issueIdToken'>

export function agentIdentity(control: Issuing, sessionId: string, { spk, sign }: DeviceKey): AgentIdentity {
  let idToken: string | undefined
  let renewAtMs = 0
  let endsAtMs = 0
  let renewing: Promise<void> | undefined

  async function renew(): Promise<void> {
    renewAtMs = Date.now() + pauseMs
    const askedAtMs = Date.now()
    const { data } = await control.issueIdToken({ id: sessionId, body: { spk }, repeatable: true })
    idToken = data.id_token
    endsAtMs = askedAtMs + lifeMs(idToken)
    renewAtMs = askedAtMs + Math.max(pauseMs, renewedAfter * lifeMs(idToken))
  }

  async function get(): Promise<RoomIdentity> {
    if (!idToken || Date.now() >= Math.min(renewAtMs, endsAtMs)) {
      renewing ??= renew().finally(() => (renewing = undefined))
      await renewing.catch((error: unknown) => {
        // An expired token would be rejected permanently. The error of the renewal may be temporary.
        if (!idToken || Date.now() >= endsAtMs) throw error
      })
    }
    return { idToken, spk, sign }
  }

  return { get, expire: () => void (renewAtMs = 0) }
}

/** The lifetime, `exp - iat`. It does not depend on the local clock, which may be wrong. */
function lifeMs(idToken: string): number {
  const payload = new TextDecoder().decode(decodeBase64url(idToken.split('.')[1] ?? ''))
  const { exp, iat }: { exp: number; iat: number } = JSON.parse(payload)
  return (exp - iat) * 1_000
}
