import { parseEmail } from '@atrium/identity/email'
import type { ListedFacts } from './listed-view.ts'

/**
 * The devices and invitations with these keys, and everything with which the same people could read on: the devices
 * that these devices have named, the devices that those have named, and so on; and the open invitations for the same
 * people.
 */
export function leavingWith(
  { vouchedBy, invitedAs, invites }: Pick<ListedFacts, 'vouchedBy' | 'invitedAs' | 'invites'>,
  keys: readonly string[],
): string[] {
  const all = new Set(keys)
  for (let size = 0; size < all.size;) {
    size = all.size
    for (const [key, by] of vouchedBy) if (all.has(by)) all.add(key)
  }
  const people = new Set([...all].flatMap((key) => personOf(invitedAs.get(key)) ?? []))
  for (const { key, for: who } of invites.values()) if (people.has(personOf(who) ?? '')) all.add(key)
  return [...all]
}

/** An agent that is to leave: by its device, or by what it was invited as. */
export interface LeavingAgent {
  readonly device?: string | undefined
  readonly invitedAs?: string | undefined
}

/** The keys of the agent among members and open invitations. */
export function keysOfAgent(
  named: readonly { readonly key: string; readonly invitedAs?: string | undefined }[],
  { device, invitedAs }: LeavingAgent,
): string[] {
  const found = named.filter((one) => one.key === device || (invitedAs !== undefined && one.invitedAs === invitedAs))
  return found.map(({ key }) => key)
}

/** The address in comparison form, or the name. */
export function personOf(invitedAs: string | undefined): string | undefined {
  return parseEmail(invitedAs) ?? invitedAs
}
