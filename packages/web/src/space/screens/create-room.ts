import { callSpace } from '../api/space-client.ts'
import { accountStore } from '../identity/account.ts'
import { identityIn } from '../identity/present.ts'
import { cleanName } from '../parts/authors.ts'
import { parseAddresses } from '../parts/parse-addresses.ts'
import { newRoomSecret } from '@atrium/room-client/new-room-secret'
import { makeClientSealedRoom } from '../room/client-sealed-channel.ts'
import type { RoomLink } from '../room-link.ts'

/** What was filled in. */
export interface Wish {
  /** sealed: open, and the clients seal the lines. listed: they do, and the room has a list. */
  readonly policy: 'sealed' | 'listed' | 'open' | 'email'
  readonly title: string
  /** Of the owner, in a listed room. */
  readonly name: string
  readonly addresses: string
}

/** Creates the room. Its owner is the account or, for a guest, the key of this device. */
export async function createRoom({ policy, title, name, addresses }: Wish): Promise<RoomLink> {
  if (policy === 'sealed') return makeClientSealedRoom()
  const { emails } = parseAddresses(addresses)
  if (policy === 'listed') {
    const { makeListedRoom } = await import('../room/listed-channel.ts')
    return makeListedRoom({ name: cleanName(name) || undefined, invited: emails })
  }
  const secret = newRoomSecret()
  const email = accountStore.value.account?.email
  const allow = [...new Set([...(email ? [email.toLowerCase()] : []), ...emails])]
  const request = {
    op: 'create' as const,
    ...secret,
    policy,
    ...(title.trim() !== '' && { title: title.trim() }),
    ...(policy === 'email' && { allow }),
  }
  await callSpace(request, { identity: await identityIn(secret.room) })
  return { ...secret, kind: 'classic' }
}
