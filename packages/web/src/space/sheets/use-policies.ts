import type { PolicyRecord } from '@atrium/sealing/records'
import { useEffect, useState } from 'preact/hooks'
import { fetchPolicies } from '../verification/sealed-history.ts'
import type { RoomSession } from '../room/room-session.ts'

/**
 * The policies of the room, oldest first, opened here from the sealed history. undefined: not loaded yet; null: could
 * not be loaded.
 */
export function usePolicies(session: RoomSession) {
  const [policies, setPolicies] = useState<readonly PolicyRecord[] | null>()
  const read = async () => {
    // The policies of a client-sealed room name nobody to the service, and are read elsewhere.
    if (session.secret.kind !== 'classic') return setPolicies([])
    const messageSeqs = new Set(session.state.value.chunks.flatMap(({ entries }) => entries.map(({ seq }) => seq)))
    setPolicies(await fetchPolicies(session.secret, messageSeqs).catch(() => null))
  }
  useEffect(() => void read(), [session])
  return { policies, current: policies?.at(-1), read }
}
