import { parseEmail } from '@atrium/identity/email'
import { withAdmitted } from './list-changes.ts'
import type { ListedConnection } from './listed-connection.ts'
import type { Invitation, Member } from './listed-types.ts'

interface AdmitOptions {
  readonly isMeant: (invitation: Invitation) => boolean
  /** Whether an address is believed by an ID token only. */
  readonly needsTokens: boolean
}

/** The owner lets in the devices that have answered an invitation, each in the place of it. Resolves to them. */
export async function admitAnswered(
  connection: ListedConnection,
  { isMeant, needsTokens }: AdmitOptions,
  signal: AbortSignal | undefined,
): Promise<Member[]> {
  let answered: { invitation: string; device: string }[] = []
  await connection.change(async (list) => {
    // By the list that this one follows: another tab of the owner may have taken an invitation back meanwhile.
    answered = []
    for (const invitation of (await connection.list()).invitations) {
      const { key, invitedAs, answeredBy } = invitation
      const mayBeLetIn = answeredBy && isMeant(invitation) && (!needsTokens || mayEnter(invitedAs, answeredBy))
      if (mayBeLetIn && (await connection.canSealTo(answeredBy.key))) answered.push({ invitation: key, device: answeredBy.key })
    }
    return answered.length > 0 ? withAdmitted(list, answered) : undefined
  }, signal)
  const { members } = await connection.list()
  return members.filter(({ key }) => answered.some(({ device }) => device === key))
}

/** An address is believed by an ID token only. A device that was removed comes back by an invitation for its own address. */
function mayEnter(invitedAs: string, { standing }: Member): boolean {
  const address = parseEmail(invitedAs)
  return address === undefined || standing.ok || (standing.reason === 'revoked' && standing.email === address)
}
