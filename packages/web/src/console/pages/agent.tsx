import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { useAction } from '../api/use-action.ts'
import { useQuery } from '../api/use-query.ts'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { Facts } from '../components/facts.tsx'
import { FailureNote } from '../components/failure.tsx'
import { SelectField } from '../components/fields.tsx'
import { Badge, formatNumber, formatTime } from '../components/format.tsx'
import { Loading } from '../components/loading.tsx'
import { PageHead } from '../components/page-head.tsx'
import type { Params } from '../router/match-path.ts'
import { Link } from '../router/router.tsx'
import { AgentForm, type Agent } from './agent-form.tsx'
import { agentTones, useAgentSecret } from './agents.tsx'
import { TestRoom } from './test-room.tsx'

const statuses = [
  ['draft', 'Draft: cannot be launched'],
  ['private', 'Private: only this tenant'],
  ['active', 'Active: in the catalog'],
] as const

/** One agent: what it is, whether it can be launched, and how it was rated. */
export function AgentPage({ params: { id = '' } }: { params: Params }) {
  const agent = useQuery(`agent ${id}`, async (signal) => (await api.getAgent({ agentId: id, signal })).data)
  const [isEditing, setEditing] = useState(false)
  const showSigningSecret = useAgentSecret()
  const { data, error } = agent
  const up = { to: '/agents', title: 'Agents' }
  if (!data)
    return (
      <>
        <PageHead title="Agent" up={up} />
        {error === undefined ? <Loading /> : <FailureNote error={error} onRetry={agent.reload} />}
      </>
    )
  return (
    <>
      <PageHead title={data.name} up={up} lead={data.description}>
        <CurlButton what="read the agent" call={() => ['getAgent', { agentId: id }]} />
        {may('develop') && (
          <button class="button primary" type="button" onClick={() => setEditing(true)}>
            Edit
          </button>
        )}
      </PageHead>
      <section class="card">
        <Facts
          facts={[
            ['Id', <CopyText text={id} label="Copy the id" />],
            ['Status', <Badge tone={agentTones[data.status]}>{data.status}</Badge>],
            ['Model', modelOf(data)],
            ['Endpoint', data.endpoint],
            ['Price', `${formatNumber(data.price_credits)} credits for a launch`],
            ['Price of use', priceOfUse(data)],
            ['Longest stay', `${data.max_minutes} minutes`],
            ['Tools', data.tools.map(({ name, mcp }) => name ?? mcp).join(', ')],
            ['Greeting', data.greeting],
            ['Created', formatTime(data.created_at)],
            ['Sessions', <Link to={`/agent-sessions?agent=${id}`}>Sessions of this agent</Link>],
          ]}
        />
      </section>
      {may('develop') && <StatusCard agent={data} onChange={(changed) => agent.set(() => changed)} />}
      {may('develop') && <TestRoom agent={data} />}
      <Ratings id={id} />
      {isEditing && (
        <AgentForm
          agent={data}
          onClose={() => setEditing(false)}
          onSaved={({ signing_secret: made, ...saved }) => {
            setEditing(false)
            agent.set(() => saved)
            showSigningSecret(made)
          }}
        />
      )}
    </>
  )
}

function modelOf({ model, endpoint }: Agent): string | undefined {
  if (endpoint !== undefined) return undefined
  return model ? `${model.provider} / ${model.id}` : 'echo: repeats what is said'
}

function StatusCard({ agent, onChange }: { agent: Agent; onChange: (agent: Agent) => void }) {
  const [isBusy, run] = useAction()
  const { status } = agent
  if (status === 'suspended' || status === 'pending')
    return <p class="muted">An operator has set the status {status}. Only an operator lifts it.</p>
  const change = (to: 'draft' | 'private' | 'active') =>
    void run(
      async () => onChange((await api.setAgentStatus({ agentId: agent.id, body: { status: to } })).data),
      `The agent is ${to}`,
    )
  return (
    <section class="card" aria-busy={isBusy}>
      <div class="filters">
        <SelectField label="Who may launch it" path={null} value={status} options={statuses} onChange={change} />
        <CurlButton
          what="change the status"
          call={() => ['setAgentStatus', { agentId: agent.id, body: { status: status === 'active' ? 'private' : 'active' } }]}
        />
      </div>
    </section>
  )
}

function Ratings({ id }: { id: string }) {
  const { data, error, reload } = useQuery(
    `ratings ${id}`,
    async (signal) => (await api.getAgentRatings({ agentId: id, signal })).data,
  )
  if (error !== undefined) return <FailureNote error={error} onRetry={reload} />
  if (!data) return <Loading lines={2} />
  return (
    <section class="card">
      <h2>Ratings</h2>
      {data.count === 0 ? (
        <p class="muted">Nobody has rated the agent yet.</p>
      ) : (
        <p>
          <b>{data.average?.toFixed(1)}</b> of 5, from {formatNumber(data.count)} {data.count === 1 ? 'rating' : 'ratings'}
        </p>
      )}
    </section>
  )
}

function priceOfUse({ credits_per_1k_tokens: tokens = 0, credits_per_tool_call: call = 0 }: Agent): string | undefined {
  const parts = [
    ...(tokens > 0 ? [`${formatNumber(tokens)} credits for 1,000 tokens`] : []),
    ...(call > 0 ? [`${formatNumber(call)} credits for a tool call`] : []),
  ]
  return parts.length > 0 ? `${parts.join(', ')}, from a budget` : undefined
}
