import type { Handlers } from '../handler.ts'
import { getSession, listAgentTools } from './operations/get-session.ts'
import { issueIdToken } from './operations/issue-id-token.ts'
import { launchSession, summonSession } from './operations/launch-session.ts'
import { markSessionJoined } from './operations/mark-session-joined.ts'
import { rateAgent } from './operations/rate-agent.ts'
import { stopSession } from './operations/stop-session.ts'

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
