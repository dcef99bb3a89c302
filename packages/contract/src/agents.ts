import Type from 'typebox'
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
import { closed, id, oneOf, PageQuery } from './schemas.ts'

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
      'Either a model agent, which we run with the provider key of its tenant (without `model` the built-in echo model), or a remote one, ' +
      'whose `endpoint` is called with a signed request at each launch and which joins by itself; both at once is 400. It starts as `draft`. ' +
      'Registration costs nothing unless this installation sets a fee: it is taken from the balance that the tenant holds as an issuer, so that ' +
      'it takes the issuer role and a `prefund` checkout before; 402 where the balance is short.',
    caller: 'secret',
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
    description: 'An agent of this tenant. Secrets are stripped.',
    caller: 'secret',
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
      'Changes the fields that are sent. `tools` replaces them all; a tool with the name or MCP address it had, sent without a secret, keeps ' +
      'its secret, unless its `url` now has another origin: then the secret is dropped, and `has_secret` says so. Running sessions go on as ' +
      'they were launched, with a secret only where it is one for the origin that they call.',
    caller: 'secret',
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
      'active: in the catalog, launchable by every tenant. private: launchable by its own tenant alone. draft: not launchable. The owner goes ' +
      'freely between the three; `suspended` and `pending` are set and lifted by an operator: until then 409 `state_conflict`.',
    caller: 'secret',
    params: agentParams,
    body: closed({ status: oneOf(['draft', 'active', 'private']) }),
    answers: { 200: { description: 'The agent.', data: Agent } },
    errors: ['state_conflict'],
    example: { body: { status: 'active' }, data: { ...agentExample, status: 'active' } },
  }),
  moderateAgent: operation({
    id: 'moderateAgent',
    kind: 'read',
    method: 'POST',
    path: '/operator/agents/{agentId}/status',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Suspend an agent, or lift that',
    description:
      'Operator only. suspended, pending: out of the catalog and not launchable, until lifted; its owner cannot change that, and ' +
      'its sessions get no more ID tokens. suspended: its sessions are stopped too, whoever launched them, and settled as after any stop; a ' +
      'repeat stops what was being launched at that moment. lifted: back to the status that the owner had set last; nothing changes where no ' +
      'hold is.',
    caller: 'operator',
    params: agentParams,
    body: closed({ status: oneOf(['suspended', 'pending', 'lifted']) }),
    answers: {
      200: {
        description: 'The agent, without what only its owner sees.',
        data: Type.Object({ id: id('agent'), tenant_id: id('tenant'), name: Type.String(), status: agentStatus }),
      },
    },
    example: {
      body: { status: 'suspended' },
      data: { id: agentExample.id, tenant_id: 'ten_4fRzK0vXcB1mQwErTy7uPa', name: agentExample.name, status: 'suspended' },
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
      'For the holder of the control token of a session with this agent; another agent is 403 `not_authorized`. Secrets are stripped.',
    caller: 'control',
    params: agentParams,
    answers: { 200: { description: 'The tools.', data: Type.Object({ tools: Type.Array(ToolShown) }) } },
    errors: ['not_authorized'],
    example: { data: { tools: agentExample.tools } },
  }),
}
