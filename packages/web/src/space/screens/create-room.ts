import { callSpace, RETRIES } from '../api/space-client.ts'
import { accountStore } from '../identity/account.ts'
import { identityIn } from '../identity/present.ts'
import { cleanName } from '../components/authors.ts'
import { parseAddresses } from '../components/parse-addresses.ts'
import { loadCode } from '../load-code.ts'
import { newRoomSecret } from '@atrium/room-client/new-room-secret'
import { ifNew, makeClientSealedRoom } from '../room/client-sealed-channel.ts'
import type { RoomLink } from '../room-link.ts'

/** What was filled in. */
export interface RoomForm {
  /** sealed: open, and the clients seal the lines. listed: they do, and the room has a list. */
  readonly policy: 'sealed' | 'listed' | 'open' | 'email'
  readonly title: string
  /** Of the owner, in a listed room. */
  readonly name: string
  readonly addresses: string
}

/**
 * Returns a function that creates the room. Called again after a failure, the function creates the same room, because
 * the answer may have been lost. The owner is the account or, for a guest, the key of this device.
 */
export function prepareRoom({ policy, title, name, addresses }: RoomForm): () => Promise<RoomLink> {
  const { emails } = parseAddresses(addresses)
  if (policy === 'listed') {
    let make: (() => Promise<RoomLink>) | undefined
    return async () => {
      const { prepareListedRoom } = await loadCode(() => import('../room/listed-channel.ts'))
      make ??= await prepareListedRoom({ name: cleanName(name) || undefined, invited: emails })
      return make()
    }
  }
  const secret = newRoomSecret()
  if (policy === 'sealed') return () => makeClientSealedRoom(secret)
  const email = accountStore.value.account?.email
  const allow = [...new Set([...(email ? [email.toLowerCase()] : []), ...emails])]
  const request = {
    op: 'create' as const,
    ...secret,
    policy,
    ...(title.trim() !== '' && { title: title.trim() }),
    ...(policy === 'email' && { allow }),
  }
  return async () => {
    await ifNew(callSpace(request, { identity: await identityIn(secret.room), retries: RETRIES }))
    return { ...secret, kind: 'classic' }
  }
}
