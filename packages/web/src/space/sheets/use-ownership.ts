import { useEffect, useState } from 'preact/hooks'
import { accountStore } from '../identity/account.ts'
import { type As, keyOf } from '../identity/present.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { usePolicies } from './use-policies.ts'

/**
 * The identity with which the visitor owns the room. null: the visitor is not known to be the owner. undefined: not
 * known yet.
 */
export function useOwnership(session: RoomSession): As | null | undefined {
  const { policies, current } = usePolicies(session)
  const account = useStore(accountStore, (value) => value.account)
  const [guestKey, setGuestKey] = useState<string>()
  useEffect(() => void keyOf(session.secret.room, 'guest').then(({ thumbprint }) => setGuestKey(thumbprint)), [session])
  if (policies === undefined || guestKey === undefined) return undefined
  if (!current?.owner) return null
  if ('key' in current.owner) return current.owner.key === guestKey ? 'guest' : null
  return current.owner.email === account?.email.toLowerCase() ? 'account' : null
}
