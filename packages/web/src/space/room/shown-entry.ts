import type { ListedEntry } from '@atrium/room-client/listed-types'
import { findAgentId } from '@atrium/room-client/seal-for-agent'
import type { Author } from '@atrium/room-client/space-ops'

/** An author whose address is proven is shown as in rooms of the other kind. */
export function shownEntry(entry: ListedEntry): ListedEntry {
  const { key, vouchedBy, name = vouchedBy?.name, standing } = entry.member
  const claimed = name !== undefined && { name }
  const agent = entry.member.hostedAgent ?? findAgentId(entry.member.invitedAs)
  // The id is what the owner has invited: a device that the agent's device has named is not the agent's.
  if (agent !== undefined && !vouchedBy) return { ...entry, author: { kind: 'agent', id: agent, ...claimed, key, proven: true } }
  const author: Author = standing.ok
    ? { kind: 'account', email: standing.email, ...claimed, key, proven: true }
    : { kind: 'anonymous', ...claimed, key, proven: true }
  return { ...entry, author }
}
