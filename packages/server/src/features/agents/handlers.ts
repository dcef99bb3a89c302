import type { Handlers } from '../handler.ts'
import { getAgent, listAgents } from './operations/get-agents.ts'
import { getAgentRatings, listCatalog } from './operations/get-catalog.ts'
import { registerAgent } from './operations/register-agent.ts'
import { moderateAgent, setAgentStatus } from './operations/set-agent-status.ts'
import { updateAgent } from './operations/update-agent.ts'

export const agentHandlers = {
  getAgent,
  getAgentRatings,
  listAgents,
  listCatalog,
  moderateAgent,
  registerAgent,
  setAgentStatus,
  updateAgent,
} satisfies Partial<Handlers>
