import { decodeBase64url } from '@atrium/sealing/base64url'
import type { AtriumClient } from './call.ts'
import type { DeviceKey } from './device-key.ts'
import type { RoomIdentity } from './room-call.ts'

/** A renewal that failed is not tried again before this: the old token is good for longer. */
const pauseMs = 10_000

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
  let renewing: Promise<void> | undefined

  async function renew(): Promise<void> {
    renewAtMs = Date.now() + pauseMs
    const { data } = await control.issueIdToken({ id: sessionId, body: { spk }, repeatable: true })
    idToken = data.id_token
    renewAtMs = Date.now() + Math.max(pauseMs, 0.75 * lifeMs(idToken))
  }

  async function get(): Promise<RoomIdentity> {
    if (!idToken || Date.now() >= renewAtMs) {
      renewing ??= renew().finally(() => (renewing = undefined))
      await renewing.catch((error: unknown) => {
        if (!idToken) throw error
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
