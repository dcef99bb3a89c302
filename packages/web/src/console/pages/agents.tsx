import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { usePages } from '../api/use-pages.ts'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { Badge, formatNumber, Time } from '../components/format.tsx'
import { Icon } from '../components/icon.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Link } from '../router/router.tsx'
import { useSecrets } from '../shell/secrets.tsx'
import { useShortcuts } from '../shell/shortcuts.tsx'
import { AgentForm } from './agent-form.tsx'

export const agentTones = { active: 'good', private: 'plain', draft: 'plain', suspended: 'bad', pending: 'warn' } as const

/** The agents that the tenant offers. */
export function Agents() {
  const pages = usePages('agents', (page, signal) => api.listAgents({ query: { limit: 50, ...page }, signal }))
  const [isNew, setNew] = useState(false)
  const showSigningSecret = useAgentSecret()
  const mayChange = may('develop')
  useShortcuts('Agents', mayChange ? [{ keys: 'n', label: 'New agent', run: () => setNew(true) }] : [])
  return (
    <>
      <PageHead title="Agents" lead="What people invite into their rooms, and pay for with a coupon.">
        <CurlButton what="list the agents" call={() => ['listAgents', {}]} />
        {mayChange && (
          <button class="button primary" type="button" onClick={() => setNew(true)}>
            <Icon name="plus" />
            New agent
          </button>
        )}
      </PageHead>
      <PagedTable
        caption="Agents"
        pages={pages}
        keyOf={({ id }) => id}
        empty={
          <Empty title="There are no agents yet">
            <p>A hosted agent answers with a model. A remote agent runs on your own server, and joins the room by itself.</p>
          </Empty>
        }
        columns={[
          {
            title: 'Name',
            wide: true,
            cell: ({ id, name }) => (
              <Link class="row-link" to={`/agents/${id}`}>
                {name}
              </Link>
            ),
          },
          { title: 'Status', cell: ({ status }) => <Badge tone={agentTones[status]}>{status}</Badge> },
          { title: 'Runs', cell: ({ endpoint, model }) => (endpoint === undefined ? (model?.provider ?? 'echo') : 'remote') },
          { title: 'Price', align: 'end', cell: ({ price_credits }) => `${formatNumber(price_credits)} credits` },
          { title: 'Longest stay', align: 'end', cell: ({ max_minutes }) => `${max_minutes} min` },
          { title: 'Id', cell: ({ id }) => <CopyText text={id} label="Copy the id" short /> },
          { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
      />
      {isNew && (
        <AgentForm
          agent={undefined}
          onClose={() => setNew(false)}
          onSaved={(agent) => {
            setNew(false)
            pages.reload()
            showSigningSecret(agent.signing_secret)
          }}
        />
      )}
    </>
  )
}

/** Shows the signing secret of an agent that was saved, where the server has made one. */
export function useAgentSecret(): (secret: string | undefined) => void {
  const showSecret = useSecrets()
  return (secret) => {
    if (secret === undefined) return
    showSecret({
      title: 'The signing secret',
      text: 'Your server checks with it that a request comes from here. Store it now: it is not shown again.',
      secrets: [['Signing secret', secret]],
    })
  }
}
