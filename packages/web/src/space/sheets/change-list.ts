import { callSpace, RETRIES } from '../api/space-client.ts'
import { identityIn } from '../identity/present.ts'
import type { RoomSession } from '../room/room-session.ts'

export interface ListChange {
  readonly op: 'admit' | 'expel'
  readonly emails?: string[]
  readonly agents?: string[]
}

export async function changeList({ secret: { room, mk } }: RoomSession, { op, ...names }: ListChange): Promise<void> {
  const identity = await identityIn(room, 'account')
  await callSpace<'admit' | 'expel'>({ op, room, mk, ...names }, { identity, retries: RETRIES })
}
