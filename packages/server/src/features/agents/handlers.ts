import type { Handlers } from '../handler.ts'
import {
  getAgent,
  getAgentRatings,
  listAgents,
  listAllAgents,
  listCatalog,
  moderateAgent,
  registerAgent,
  setAgentStatus,
  updateAgent,
} from './operations/agents.ts'

export const agentHandlers = {
  getAgent,
  getAgentRatings,
  listAgents,
  listAllAgents,
  listCatalog,
  moderateAgent,
  registerAgent,
  setAgentStatus,
  updateAgent,
} satisfies Partial<Handlers>
