import type { ListedConnection } from './listed-connection.ts'
import type { Member } from './listed-types.ts'
import { readCard } from './room-device.ts'

/**
 * Names a second device of this member, which the owner may then let in. `card`: of that device, for this room, and with this
 * device as `member`. Everybody in the room can read it, and no other member can use it.
 */
export async function vouchFor(
  connection: ListedConnection,
  { room, card, own }: { room: string; card: string; own: string },
  signal: AbortSignal | undefined,
): Promise<void> {
  if ((await readCard(card, room))?.member !== own)
    throw new TypeError('not the card of a second device of this one for this room')
  await connection.append({ t: 'vouch', card }, signal)
}

/** Lets in second devices that members have named. The key does not change, because nobody leaves the list. */
export async function admitVouched(
  connection: ListedConnection,
  keys: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Member[]> {
  let waiting: Member[] = []
  await connection.change(async (list) => {
    // By the list that this one follows: another tab of the owner may have removed who has named them.
    waiting = []
    for (const member of (await connection.list()).vouched)
      if (keys.includes(member.key) && (await connection.canSealTo(member.key))) waiting.push(member)
    return waiting.length > 0 ? { ...list, devices: [...list.devices, ...waiting.map(({ key }) => key)] } : undefined
  }, signal)
  return waiting
}
