import type { Handlers } from '../handler.ts'
import { getSession, issueIdToken, listAgentTools, markSessionJoined, rateAgent, stopSession } from './operations/sessions.ts'
import { launchSession, summonSession } from './operations/launch-session.ts'

export const sessionHandlers = {
  getSession,
  issueIdToken,
  launchSession,
  listAgentTools,
  markSessionJoined,
  rateAgent,
  stopSession,
  summonSession,
} satisfies Partial<Handlers>
