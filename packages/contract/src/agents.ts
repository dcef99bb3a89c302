import { Type } from './type.ts'
import {
  Agent,
  agentExample,
  AgentPatch,
  AgentRegistration,
  agentStatus,
  registrationExample,
  ToolShown,
} from './agent-schemas.ts'
import { agentParams } from './catalog.ts'
import { operation } from './operation.ts'
import { analysts, developers } from './roles.ts'
import { closed, id, oneOf, PageQuery } from './schemas.ts'

/** An agent as an operator sees it. */
const AgentOfTenant = Type.Object({ id: id('agent'), tenant_id: id('tenant'), name: Type.String(), status: agentStatus })

const agentOfTenantExample = {
  id: agentExample.id,
  tenant_id: 'ten_4fRzK0vXcB1mQwErTy7uPa',
  name: agentExample.name,
  status: 'active',
}

export const agentOperations = {
  registerAgent: operation({
    id: 'registerAgent',
    kind: 'write',
    method: 'POST',
    path: '/agents',
    status: 'legacy',
    tag: 'Agents',
    summary: 'Register an agent',
    description:
      'A hosted agent runs here with the provider key of its tenant; without `model` it uses the built-in echo ' +
      'model. A remote agent has an `endpoint`, which receives a signed request at each launch, and joins by ' +
      'itself. Both fields together are 400.\n\n' +
      'A new agent is a `draft`. Registration is free unless this ' +
      'installation sets a fee. The fee is debited from the tenant’s issuer balance, so the tenant needs the ' +
      'issuer role and a `prefund` checkout first. If the balance is too low, the answer is 402.',
    caller: 'secret',
    roles: developers,
    audited: true,
    idempotency: 'accepted',
    body: AgentRegistration,
    answers: { 201: { description: 'The agent.', data: Agent, oneTimeSecret: true } },
    errors: ['insufficient_credit'],
    example: { body: registrationExample, data: agentExample },
  }),
  listAgents: operation({
    id: 'listAgents',
    kind: 'read',
    method: 'GET',
    path: '/agents',
    status: 'legacy',
    tag: 'Agents',
    summary: 'List your agents',
    description: 'The agents of this tenant, oldest first, whatever their status.',
    caller: 'secret',
    roles: analysts,
    query: PageQuery,
    answers: { 200: { description: 'A page of agents.', data: Type.Array(Agent), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [agentExample] },
  }),
  getAgent: operation({
    id: 'getAgent',
    kind: 'read',
    method: 'GET',
    path: '/agents/{agentId}',
    status: 'legacy',
    tag: 'Agents',
    summary: 'Read an agent',
    description: 'An agent of this tenant. Secrets are not returned.',
    caller: 'secret',
    roles: analysts,
    params: agentParams,
    answers: { 200: { description: 'The agent.', data: Agent } },
    example: { data: agentExample },
  }),
  updateAgent: operation({
    id: 'updateAgent',
    kind: 'write',
    method: 'PATCH',
    path: '/agents/{agentId}',
    status: 'legacy',
    tag: 'Agents',
    summary: 'Change an agent',
    description:
      'Changes only the fields that are sent. `tools` replaces the whole list. A tool that is sent without a ' +
      'secret and keeps its name or MCP address keeps its secret, unless its `url` now has another origin: then ' +
      'the secret is removed and `has_secret` is false. Running sessions keep the configuration of their launch: ' +
      'they use a new secret of a tool from the next answer on, only for the origin that it was set for, and keep that of ' +
      'a tool that is no longer on the list. Stop the session to end that.',
    caller: 'secret',
    roles: developers,
    audited: true,
    params: agentParams,
    body: AgentPatch,
    answers: { 200: { description: 'The agent.', data: Agent, oneTimeSecret: true } },
    example: { body: { price_credits: 8, greeting: null }, data: { ...agentExample, price_credits: 8 } },
  }),
  setAgentStatus: operation({
    id: 'setAgentStatus',
    kind: 'write',
    method: 'PUT',
    path: '/agents/{agentId}/status',
    status: 'legacy',
    tag: 'Agents',
    summary: 'Set the status of an agent',
    description:
      'active: in the catalog, launchable by every tenant. private: launchable only by its own tenant. draft: not ' +
      'launchable. The owner can move freely between these three. Only an operator sets and lifts `suspended` and ' +
      '`pending`; until then the answer is 409 `state_conflict`.',
    caller: 'secret',
    roles: developers,
    audited: true,
    params: agentParams,
    body: closed({ status: oneOf(['draft', 'active', 'private']) }),
    answers: { 200: { description: 'The agent.', data: Agent } },
    errors: ['state_conflict'],
    example: { body: { status: 'active' }, data: { ...agentExample, status: 'active' } },
  }),
  listAllAgents: operation({
    id: 'listAllAgents',
    kind: 'read',
    method: 'GET',
    path: '/operator/agents',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'List the agents of all tenants',
    description: 'Operator only. All agents, oldest first, whatever their status, without what only their owners see.',
    caller: 'operator',
    query: PageQuery,
    answers: { 200: { description: 'A page of agents.', data: Type.Array(AgentOfTenant), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [agentOfTenantExample] },
  }),
  moderateAgent: operation({
    id: 'moderateAgent',
    kind: 'read',
    method: 'POST',
    path: '/operator/agents/{agentId}/status',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Suspend an agent, or lift its suspension',
    description:
      'Operator only. suspended, pending: the agent is not in the catalog and cannot be launched until an operator ' +
      'lifts this. Its owner cannot, and its sessions get no more ID tokens. suspended: all its sessions are also ' +
      'stopped and settled as after any stop. If some cannot be stopped at once, the answer is 503; the agent is ' +
      'suspended all the same, and these sessions are stopped within seconds, also without a repeat. ' +
      'lifted: restores the status that the owner set last; without a hold of an operator, nothing changes.',
    caller: 'operator',
    params: agentParams,
    body: closed({ status: oneOf(['suspended', 'pending', 'lifted']) }),
    answers: {
      200: {
        description: 'The agent, without what only its owner sees.',
        data: AgentOfTenant,
      },
    },
    example: {
      body: { status: 'suspended' },
      data: { ...agentOfTenantExample, status: 'suspended' },
    },
  }),
  listAgentTools: operation({
    id: 'listAgentTools',
    kind: 'read',
    method: 'GET',
    path: '/agents/{agentId}/tools',
    status: 'legacy',
    tag: 'Agents',
    summary: 'Tools of the agent in a session',
    description:
      'Needs the control token of a session with this agent; another agent is 403 `not_authorized`. Secrets are ' +
      'not returned.',
    caller: 'control',
    params: agentParams,
    answers: { 200: { description: 'The tools.', data: Type.Object({ tools: Type.Array(ToolShown) }) } },
    errors: ['not_authorized'],
    example: { data: { tools: agentExample.tools } },
  }),
}
