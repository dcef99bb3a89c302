import { useEffect, useState } from 'preact/hooks'
import { PlatformApi } from '../api/platform-api.ts'
import type { SpaceConfig } from '../config.ts'
import type { RoomSession } from '../room/room-session.ts'
import { InvitedAgents } from './invited-agents.ts'

/**
 * undefined: the clients seal the lines of this room, which no agent can read; or the service has no key for this page to invite agents with, or has not answered yet.
 */
export function useInvitedAgents(session: RoomSession, config: SpaceConfig | undefined): InvitedAgents | undefined {
  const [invited, setInvited] = useState<InvitedAgents>()
  useEffect(() => {
    if (!config?.publishable_key || session.secret.kind !== 'classic') return undefined
    const made = new InvitedAgents(new PlatformApi(config.api_url, config.publishable_key), session.secret)
    setInvited(made)
    return () => made.stop()
  }, [session, config])
  return invited
}
