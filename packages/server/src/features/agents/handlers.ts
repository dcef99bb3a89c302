import type { Handlers } from '../handler.ts'
import { getAgent, getAgentRatings, listAgents, listAllAgents, listCatalog } from './operations/reading.ts'
import { registerAgent, updateAgent } from './operations/manifest.ts'
import { moderateAgent, setAgentStatus } from './operations/set-agent-status.ts'

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
