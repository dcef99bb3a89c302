import type { ListedEntry, Member } from '@atrium/room-client/listed-types'
import { findAgentId } from '@atrium/room-client/seal-for-agent'
import type { Author } from '@atrium/room-client/space-ops'

export function shownEntry(entry: ListedEntry): ListedEntry {
  return { ...entry, author: authorOf(entry.member) }
}

/** An author whose address is proven is shown as in rooms of the other kind. */
export function authorOf({ key, invitedAs, hostedAgent, vouchedBy, name = vouchedBy?.name, standing }: Member): Author {
  const claimed = name !== undefined && { name }
  const agent = hostedAgent ?? findAgentId(invitedAs)
  // The id is what the owner has invited: a device that the agent's device has named is not the agent's.
  if (agent !== undefined && !vouchedBy) return { kind: 'agent', id: agent, ...claimed, key, proven: true }
  return standing.ok
    ? { kind: 'account', email: standing.email, ...claimed, key, proven: true }
    : { kind: 'anonymous', ...claimed, key, proven: true }
}
