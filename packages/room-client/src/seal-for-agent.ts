import { sealToKey } from '@atrium/sealing/seal-to-key'
import type { EcPublicKey } from '@atrium/sealing/web-recipient'
import { thumbprintOf } from './identity.ts'
import { randomId } from './new-room-secret.ts'

/** An agent as the catalog shows it. */
export interface SealedAgent {
  readonly id: string
  readonly encryption_key?: EcPublicKey
}

/**
 * Seals an invitation to the key of an agent, for `room.sealed_key` of a launch. Nobody but the agent can open it, so the
 * platform passes it on unread. Throws TypeError if the agent has no key.
 */
export async function sealForAgent({ id, encryption_key: key }: SealedAgent, room: string, invitation: string): Promise<string> {
  if (!key) throw new TypeError(`agent ${id} has no encryption_key: it cannot join a room whose key no server receives`)
  const { kty, crv, x, y } = key
  const content = JSON.stringify({ room, agent_id: id, invitation })
  return sealToKey({ kty, crv, x, y }, await thumbprintOf(key), content)
}

/** Who the device of an agent is invited as: it names the agent, and is new for each launch. */
export function newAgentGuest(id: string): string {
  return `agent ${id} ${randomId()}`
}

/** The id of the agent that the owner had invited so; undefined: it was no agent. */
export function findAgentId(invitedAs: string | undefined): string | undefined {
  return /^agent (agt_\w+) [\w-]{10,}$/.exec(invitedAs ?? '')?.[1]
}
