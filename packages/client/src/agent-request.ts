/**
 * A launch request to a remote agent. It contains the room key: keep it in memory, and only while the session lasts.
 */
export interface SessionLaunched {
  type: 'session.launched'
  session_id: string
  agent_id: string
  room: string
  /** The room key. */
  mk: string
  /** The Space endpoint. */
  space_url: string
  /** The agent's control token (sct_…): confirms the join, gets ID tokens, reads the status and stops the session. */
  control_token: string
  /** The URL of the session; the URLs of its calls start with it. */
  control_url: string
  max_minutes: number
  /** RFC 3339, UTC. */
  expires_at: string
  /** The `metadata` of the launch. */
  metadata: Record<string, unknown>
}

/**
 * A launch request to a remote agent with an `encryption_key`, into a room whose key never reaches a server: `sealed_key`
 * has what the launcher sealed to that key. All other members are those of SessionLaunched.
 */
export interface SessionLaunchedSealed extends Omit<SessionLaunched, 'type' | 'mk'> {
  type: 'session.launched_sealed'
  /** A compact JWE. */
  sealed_key: string
  /** The origin of the Space service, which signatures name. */
  space_origin: string
}

/** The session has ended. Sent once and not retried, because the session's status shows it too. */
export interface SessionEnded {
  type: 'session.ended'
  session_id: string
  agent_id: string
  room: string
  status: 'stopped' | 'failed' | 'expired'
}

export type AgentRequest = SessionLaunched | SessionLaunchedSealed | SessionEnded
