import { decodeBase64url } from '@atrium/sealing/base64url'
import type { AtriumClient } from './call.ts'
import type { DeviceKey } from './device-key.ts'
import type { RoomIdentity } from './room-call.ts'

/** A renewal that failed is not tried again before this, as long as the old token is good. */
const pauseMs = 3_000
/** It is renewed after this part of its life: what is left is longer than a poll is held. */
const renewedAfter = 0.25

/** Who an agent is in the room of its session: its device key, and an ID token for it that is renewed in good time. */
export interface AgentIdentity {
  get: () => Promise<RoomIdentity>
  /** The token was refused as too old: the next one is asked for at once. */
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
        // Shown too late it would be refused for good; what is said here instead may pass.
        if (!idToken || Date.now() >= endsAtMs) throw error
      })
    }
    return { idToken, spk, sign }
  }

  return { get, expire: () => void (renewAtMs = 0) }
}

/** From the token itself and not from when it ends: this machine's clock may be wrong. */
function lifeMs(idToken: string): number {
  const payload = new TextDecoder().decode(decodeBase64url(idToken.split('.')[1] ?? ''))
  const { exp, iat } = JSON.parse(payload) as { exp: number; iat: number }
  return (exp - iat) * 1_000
}
