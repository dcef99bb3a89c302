import { useEffect, useState } from 'preact/hooks'
import type { Entry } from '../api/space-client.ts'
import { accountStore } from '../identity/account.ts'
import { keyOf } from '../identity/present.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'

export type IsMine = (entry: Entry) => boolean

/** Whether a message was written by whoever sits here: from this device, or under this account. */
export function useMine(session: RoomSession): IsMine {
  const account = useStore(accountStore, (value) => value.account)
  const make = (keys: readonly string[]): IsMine => {
    const email = account?.email.toLowerCase()
    return ({ author, message }) =>
      (author.key !== undefined && keys.includes(author.key)) ||
      (email !== undefined && author.email === email) ||
      (message.client_id !== undefined && session.sender.mine.has(message.client_id))
  }
  const [isMine, setIsMine] = useState<IsMine>(() => make([]))
  useEffect(() => {
    let stale = false
    const keys = Promise.all([keyOf(session.secret.room, 'guest'), keyOf(session.secret.room, 'account')])
    void keys.then((known) => !stale && setIsMine(() => make(known.map(({ thumbprint }) => thumbprint))))
    return () => {
      stale = true
    }
  }, [session, account])
  return isMine
}
