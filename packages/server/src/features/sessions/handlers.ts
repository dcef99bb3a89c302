import type { Handlers } from '../handler.ts'
import { topUpSession } from './operations/top-up-session.ts'
import { createQuote } from './operations/create-quote.ts'
import { launchSession, summonSession } from './operations/launch-session.ts'
import {
  getSession,
  issueIdToken,
  listAgentTools,
  listSessions,
  markSessionJoined,
  rateAgent,
  stopSession,
} from './operations/sessions.ts'

export const sessionHandlers = {
  createQuote,
  getSession,
  issueIdToken,
  launchSession,
  listAgentTools,
  listSessions,
  markSessionJoined,
  rateAgent,
  stopSession,
  summonSession,
  topUpSession,
} satisfies Partial<Handlers>
