import type { RoomSecret } from '@atrium/sealing/room-secret'
import { callSpace } from '../api/space-client.ts'
import { accountStore } from '../identity/account.ts'
import { identityIn } from '../identity/present.ts'
import { parseAddresses } from '../parts/parse-addresses.ts'
import { newRoomSecret } from '@atrium/room-client/new-room-secret'

/** What was filled in. */
export interface Wish {
  readonly policy: 'open' | 'email'
  readonly title: string
  readonly addresses: string
}

/** Creates the room. Its owner is the account or, for a guest, the key of this device. */
export async function createRoom({ policy, title, addresses }: Wish): Promise<RoomSecret> {
  const secret = newRoomSecret()
  const email = accountStore.value.account?.email
  const allow = [...new Set([...(email ? [email.toLowerCase()] : []), ...parseAddresses(addresses).emails])]
  const request = {
    op: 'create' as const,
    ...secret,
    policy,
    ...(title.trim() !== '' && { title: title.trim() }),
    ...(policy === 'email' && { allow }),
  }
  await callSpace(request, { identity: await identityIn(secret.room) })
  return secret
}
