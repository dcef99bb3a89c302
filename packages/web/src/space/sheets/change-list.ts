import { callSpace } from '../api/space-client.ts'
import { presentIdentity } from '../identity/present.ts'
import { proofOf } from '../identity/proof.ts'
import type { RoomSession } from '../room/room-session.ts'

export interface ListChange {
  readonly op: 'admit' | 'expel'
  readonly emails?: string[]
  readonly agents?: string[]
}

export async function changeList({ secret: { room, mk } }: RoomSession, change: ListChange): Promise<void> {
  const { key, fields } = await presentIdentity(room, 'account')
  const request = { ...change, room, mk, ...fields }
  const proof = await proofOf(request, key)
  if (request.op === 'admit') await callSpace({ ...request, op: request.op, proof })
  else await callSpace({ ...request, op: 'expel', proof })
}
