import { isolated } from '../../space/text/format.ts'
import { api } from '../api/api.ts'
import { useAction } from '../api/use-action.ts'
import { usePages } from '../api/use-pages.ts'
import { CopyText, shortId } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { Badge, type Tone } from '../components/format.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Link } from '../router/router.tsx'
import { confirm } from '../shell/confirm.tsx'

type Agent = Awaited<ReturnType<typeof api.listAllAgents>>['data'][number]

const tones: Partial<Record<Agent['status'], Tone>> = { active: 'good', pending: 'warn', suspended: 'bad' }

/** The agents of all tenants, and the holds of operators on them. */
export function OperatorAgentsPage() {
  const pages = usePages('all agents', (page, signal) => api.listAllAgents({ query: page, signal }))
  return (
    <>
      <PageHead title="Agents" lead="The agents of all tenants, oldest first. Their owners cannot lift what you impose.">
        <CurlButton what="list the agents" call={() => ['listAllAgents', {}]} />
      </PageHead>
      <PagedTable
        caption="Agents"
        pages={pages}
        keyOf={({ id }) => id}
        empty={<Empty title="No tenant has registered an agent yet" />}
        columns={[
          { title: 'Agent', wide: true, cell: ({ name }) => <b>{name}</b> },
          { title: 'Status', cell: ({ status }) => <Badge tone={tones[status] ?? 'plain'}>{status}</Badge> },
          {
            title: 'Tenant',
            cell: ({ tenant_id: tenant }) => (
              <Link to={`/tenants/${tenant}`}>
                <code>{shortId(tenant)}</code>
              </Link>
            ),
          },
          { title: 'Id', cell: ({ id }) => <CopyText text={id} label="Copy the id" short /> },
          {
            title: 'Actions',
            align: 'end',
            cell: (agent) => (
              <Moderation
                agent={agent}
                onChange={(changed) => pages.set((rows) => rows.map((row) => (row.id === changed.id ? changed : row)))}
              />
            ),
          },
        ]}
      />
    </>
  )
}

const questions = {
  suspended: ['Suspend', 'It leaves the catalog, nobody can launch it, and its sessions are stopped and settled.'],
  pending: ['Review', 'It leaves the catalog and nobody can launch it until you lift this. Its sessions continue.'],
} as const

function Moderation({ agent: { id, name, status }, onChange }: { agent: Agent; onChange: (agent: Agent) => void }) {
  const [isBusy, run] = useAction()
  const set = (to: 'suspended' | 'pending' | 'lifted', done: string) =>
    run(async () => onChange((await api.moderateAgent({ agentId: id, body: { status: to } })).data), done)
  const ask = async (to: keyof typeof questions) => {
    const [action, text] = questions[to]
    const words = `${action} ${isolated(name)}`
    if (await confirm({ title: `${words}?`, text: <p>{text}</p>, action: words })) await set(to, `The agent is ${to}`)
  }
  const isHeld = status === 'suspended' || status === 'pending'
  return (
    <span class="row-actions">
      {isHeld && (
        <button class="button small" type="button" disabled={isBusy} onClick={() => void set('lifted', 'The agent is restored')}>
          Restore
        </button>
      )}
      {!isHeld && (
        <button class="button small" type="button" disabled={isBusy} onClick={() => void ask('pending')}>
          Review
        </button>
      )}
      {status !== 'suspended' && (
        <button class="button small" type="button" disabled={isBusy} onClick={() => void ask('suspended')}>
          Suspend
        </button>
      )}
      <CurlButton
        what="moderate this agent"
        call={() => ['moderateAgent', { agentId: id, body: { status: isHeld ? 'lifted' : 'suspended' } }]}
      />
    </span>
  )
}
