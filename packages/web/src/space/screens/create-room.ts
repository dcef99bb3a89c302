import type { RoomSecret } from '@atrium/sealing/room-secret'
import { callSpace } from '../api/space-client.ts'
import { accountStore } from '../identity/account.ts'
import { presentIdentity } from '../identity/present.ts'
import { proofOf } from '../identity/proof.ts'
import { parseAddresses } from '../parts/parse-addresses.ts'
import { makeRoomSecret } from '../room-link.ts'

/** What was filled in. */
export interface Wish {
  readonly policy: 'open' | 'email'
  readonly title: string
  readonly addresses: string
}

/** Makes the room; it belongs to the account, or for a guest to the key of this device. */
export async function createRoom({ policy, title, addresses }: Wish): Promise<RoomSecret> {
  const secret = makeRoomSecret()
  const { key, fields } = await presentIdentity(secret.room)
  const email = accountStore.value.account?.email
  const allow = [...new Set([...(email ? [email.toLowerCase()] : []), ...parseAddresses(addresses).emails])]
  const request = {
    op: 'create' as const,
    ...secret,
    policy,
    ...(title.trim() !== '' && { title: title.trim() }),
    ...(policy === 'email' && { allow }),
    ...fields,
  }
  await callSpace({ ...request, proof: await proofOf(request, key) })
  return secret
}
