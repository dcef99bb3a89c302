import { readCard } from '@atrium/room-client/room-device'
import { newAgentGuest, sealForAgent } from '@atrium/room-client/seal-for-agent'
import type { ListedChannel } from '../room/listed-channel.ts'
import type { Vault } from '../room/vault.ts'
import type { AgentDoor } from './agent-door.ts'
import { UnfinishedLaunches } from './unfinished-launches.ts'
import { isHere, type InvitedAgent, justInvited, type KeptAgent } from './invited-agent.ts'

/** In what this device keeps of the room: one entry for each agent that its owner has launched. */
const VISIT = 'agent/'

/**
 * A client-sealed room with a list, for its owner: an agent gets an invitation that is sealed to its key, and joins with a
 * device of its own. A visit is kept until the device is off the list, also after a reload.
 */
export function listedDoor(room: string, channel: ListedChannel): AgentDoor {
  const { vault } = channel
  const unfinished = new UnfinishedLaunches(channel)
  return {
    async open(agent) {
      const invitedAs = newAgentGuest(agent.id)
      await unfinished.begin(invitedAs)
      const invitation = await channel.inviteAgent(invitedAs)
      return { room: { room, sealed_key: await sealForAgent(agent, room, invitation) }, invitedAs }
    },
    async close({ invitedAs = '' }) {
      await channel.removeInvited({ invitedAs })
      await unfinished.end(invitedAs)
    },
    async read() {
      const visits = await readVisits(vault)
      const kept = new Set(visits.map(({ invitedAs }) => invitedAs))
      void unfinished.takeBack((invitedAs) => kept.has(invitedAs))
      return visits
    },
    async keep(agents) {
      await keepVisits(vault, agents)
      for (const { invitedAs } of agents) if (invitedAs !== undefined) await unfinished.end(invitedAs)
    },
    owner: {
      letIn: (invitedAs) => channel.letIn(invitedAs),
      remove: (agent) => channel.removeInvited(agent),
      room,
      deviceOf: async (card) => (await readCard(card, room))?.key ?? '',
      host: (consent) => channel.host(consent),
    },
  }
}

async function readVisits(vault: Vault): Promise<InvitedAgent[]> {
  const kept = await Promise.all(vault.names(VISIT).map((name) => vault.read<KeptAgent>(name)))
  return kept.flatMap((one) => (one ? [justInvited(one)] : []))
}

async function keepVisits(vault: Vault, agents: readonly InvitedAgent[]): Promise<void> {
  const open = agents.filter((agent) => isHere(agent) || agent.isOnList)
  const names = new Set(open.map(({ id }) => VISIT + id))
  for (const { id, name, controlToken, expiresAt, invitedAs, sessionId, device, prepared } of open) {
    // What is kept of a hosted agent changes when the launch was accepted.
    if (device !== undefined || !vault.names(VISIT + id).includes(VISIT + id)) {
      const kept: KeptAgent = { id, name, controlToken, expiresAt, invitedAs, sessionId, device, prepared }
      await vault.write(VISIT + id, kept)
    }
  }
  // Of this page's agents alone: another tab may have launched one.
  for (const { id } of agents) if (!names.has(VISIT + id)) await vault.remove(VISIT + id)
}
