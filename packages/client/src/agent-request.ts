/** An agent is to come into a room. Holds what opens it: keep it in memory, and only while the session lasts. */
export interface SessionLaunched {
  type: 'session.launched'
  session_id: string
  agent_id: string
  room: string
  /** The room key. */
  mk: string
  /** The Space endpoint. */
  space_url: string
  /** The agent's own (sct_…): confirms, asks for ID tokens, reads the status, stops. */
  control_token: string
  /** The session's address; its calls are below it. */
  control_url: string
  max_minutes: number
  /** RFC 3339, UTC. */
  expires_at: string
  /** What whoever launched it gave along. */
  metadata: Record<string, unknown>
}

/** The session is over. Sent once, and not again where it does not arrive: the status says it too. */
export interface SessionEnded {
  type: 'session.ended'
  session_id: string
  agent_id: string
  room: string
  status: 'stopped' | 'failed' | 'expired'
}

export type AgentRequest = SessionLaunched | SessionEnded
