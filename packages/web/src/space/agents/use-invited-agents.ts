import { useEffect, useState } from 'preact/hooks'
import type { SpaceConfig } from '../config.ts'
import { loadCode } from '../load-code.ts'
import type { RoomSession } from '../room/room-session.ts'
import { ownerIn } from '../room-link.ts'
import { type AgentDoor, classicDoor } from './agent-door.ts'
import type { InvitedAgents } from './invited-agents.ts'

/**
 * undefined: this visitor cannot invite agents into the room, because it is open and its clients seal the lines, or has a
 * list of devices and another owner; or the service has no key for this page to invite agents with, or has not answered yet.
 */
export function useInvitedAgents(session: RoomSession, config: SpaceConfig | undefined): InvitedAgents | undefined {
  const [invited, setInvited] = useState<InvitedAgents>()
  useEffect(() => {
    const { api_url: apiUrl, publishable_key: key } = config ?? {}
    if (!apiUrl || !key) return undefined
    let made: InvitedAgents | undefined
    const left = new AbortController()
    const begin = async () => {
      const door = await doorOf(session, left.signal)
      if (!door) return
      // After what the first view needs.
      const [agents, api] = await loadCode(
        () => Promise.all([import('./invited-agents.ts'), import('../api/platform-api.ts')]),
        left.signal,
      )
      if (left.signal.aborted) return
      made = new agents.InvitedAgents(new api.PlatformApi(apiUrl, key), door)
      setInvited(made)
    }
    // The visitor has left before the code was there.
    void begin().catch(() => undefined)
    return () => {
      left.abort()
      made?.stop()
    }
  }, [session, config])
  return invited
}

async function doorOf({ secret, listed }: RoomSession, signal: AbortSignal): Promise<AgentDoor | undefined> {
  if (secret.kind === 'classic') return classicDoor(secret)
  if (!listed || ownerIn(secret) !== listed.own.device.signing.thumbprint) return undefined
  const { listedDoor } = await loadCode(() => import('./listed-door.ts'), signal)
  return listedDoor(secret.room, listed)
}
