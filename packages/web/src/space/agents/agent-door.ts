import type { RoomSecret } from '@atrium/sealing/room-secret'
import type { CatalogAgent, LaunchRequest } from '../api/platform-api.ts'
import { type InvitedAgent, keepInvited, type Prepared, readInvited } from './invited-agent.ts'

/** What a launch has of a room. A launch that is sent again has the same. */
export interface Entrance {
  readonly room: LaunchRequest['room']
  /** Whom the agent's device is invited as, where it needs to be on a list of devices. */
  readonly invitedAs?: string
}

/** How agents get into one room, and out of it. */
export interface AgentDoor {
  open: (agent: Pick<CatalogAgent, 'id' | 'encryption_key'>) => Promise<Entrance>
  /** After a launch that has failed for certain. */
  close: (entrance: Entrance) => Promise<void>
  read: () => Promise<readonly InvitedAgent[]>
  keep: (agents: readonly InvitedAgent[]) => Promise<void>
  /** The owner's part, where the agent's device must be let in and removed again. */
  readonly owner?: {
    /** Lets in the device if it has answered. Resolves to whether it is on the list. */
    letIn: (invitedAs: string) => Promise<boolean>
    /** Removes the device, or takes the invitation back. The key of the room changes. */
    remove: (agent: Pick<InvitedAgent, 'invitedAs' | 'device'>) => Promise<void>
    readonly room: string
    /** The device of this card. */
    deviceOf: (card: string) => Promise<string>
    /**
     * The owner's consent: from then on the operator reads along, and every reader is told. A repeat changes nothing.
     * Resolves to whether the device is on the list, which it is not if the owner has removed it since.
     */
    host: (consent: Pick<Prepared, 'agent' | 'card'> & { device: string }) => Promise<boolean>
  }
}

/** A room whose key the platform gets with the launch. */
export function classicDoor({ room, mk }: RoomSecret): AgentDoor {
  return {
    open: async () => ({ room: { room, mk } }),
    close: async () => undefined,
    read: async () => readInvited(room),
    keep: async (agents) => keepInvited(room, agents),
  }
}
