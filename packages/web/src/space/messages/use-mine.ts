import { useEffect, useState } from 'preact/hooks'
import type { Entry } from '@atrium/room-client/space-ops'
import { accountStore } from '../identity/account.ts'
import { keyOf } from '../identity/present.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'

export type IsMine = (entry: Entry) => boolean

/**
 * Whether a message was written on this device: it carries a device key of this page or, where there is no list of
 * devices, the service returned its id when it was sent. Nothing else counts. Everyone in the room can read a client_id,
 * and a guest can present another guest's key without a proof.
 */
export function useMine(session: RoomSession): IsMine {
  const make = (keys: readonly string[]): IsMine => {
    return (entry) => {
      const { kind, key, proven } = entry.author
      // The key of an account was proven at the sign-in, because the token names it.
      const isProven = kind === 'account' || proven === true
      return (key !== undefined && keys.includes(key) && isProven) || session.sender.own.has(entry)
    }
  }
  const [isMine, setIsMine] = useState<IsMine>(() => make([]))
  // Whoever signs in or out has other rights to the same messages: they are drawn again.
  const account = useStore(accountStore, (value) => value.account)
  useEffect(() => {
    let stale = false
    const { listed, secret } = session
    const own = listed && Promise.resolve([listed.own.device.signing])
    const keys = own ?? Promise.all([keyOf(secret.room, 'guest'), keyOf(secret.room, 'account')])
    void keys.then((known) => !stale && setIsMine(() => make(known.map(({ thumbprint }) => thumbprint))))
    return () => {
      stale = true
    }
  }, [session, account])
  return isMine
}
