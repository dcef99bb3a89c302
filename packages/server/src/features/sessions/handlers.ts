import type { Handlers } from '../handler.ts'
import { getSession, issueIdToken, listAgentTools, markSessionJoined, rateAgent, stopSession } from './operations/sessions.ts'
import { listSessions } from './operations/list-sessions.ts'
import { launchSession, summonSession } from './operations/launch-session.ts'

export const sessionHandlers = {
  getSession,
  issueIdToken,
  launchSession,
  listAgentTools,
  listSessions,
  markSessionJoined,
  rateAgent,
  stopSession,
  summonSession,
} satisfies Partial<Handlers>
