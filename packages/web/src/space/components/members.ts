import type { Member } from '@atrium/room-client/listed-types'
import { findAgentId } from '@atrium/room-client/seal-for-agent'
import { t } from '../text/text.ts'
import { cleanName, isClaimable } from './authors.ts'
import { guestName } from './guest-name.ts'

/** The name that a device claims; of a second device without one, that of the first. Without both, its proven address, or a name that is derived from its key. */
export function memberName({ key, vouchedBy, name = vouchedBy?.name, standing }: Member): string {
  const claimed = cleanName(name)
  return claimed && isClaimable(claimed) ? claimed : standing.ok ? standing.email : guestName(key)
}

/** Who is behind the device, and how that is known. */
export function memberNote(member: Member): string {
  const { vouchedBy } = member
  if (!vouchedBy) return ownNote(member)
  const { key, name } = vouchedBy
  const first = memberName({ key, name, standing: { ok: false, reason: 'unsigned' } })
  return t.sealed.members.and(t.sealed.members.second(first), ownNote(member))
}

function ownNote({ invitedAs, hostedAgent, standing }: Member): string {
  const words = t.sealed.members
  if (hostedAgent !== undefined) return words.hosted(hostedAgent)
  const agent = findAgentId(invitedAs)
  if (agent !== undefined) return words.agent(agent)
  if (standing.ok) {
    const issuer = URL.canParse(standing.issuer) ? new URL(standing.issuer).host : standing.issuer
    return standing.keyFrom === 'issuer' ? words.proven(standing.email, issuer) : words.provenByOwner(standing.email, issuer)
  }
  // The address of somebody who comes back by another invitation, which may be for another address.
  if (standing.reason === 'revoked' && standing.email !== undefined) return words.and(standing.email, words.revoked)
  const invited = invitedAs === undefined ? words.owner : words.invitedAs(invitedAs)
  return t.sealed.members.and(invited, reasonOf(standing.reason))
}

function reasonOf(reason: string): string {
  const words = t.sealed.members
  if (reason === 'unsigned') return words.unsigned
  if (reason === 'unchecked') return words.unchecked
  if (reason === 'revoked') return words.revoked
  return reason === 'not_on_list' ? words.otherAddress : words.refused(reason)
}
