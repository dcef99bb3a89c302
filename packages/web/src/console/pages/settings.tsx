import { useState } from 'preact/hooks'
import { api, currentSession } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { askConsole } from '../api/session.ts'
import { useAction } from '../api/use-action.ts'
import { usePages } from '../api/use-pages.ts'
import { useQuery } from '../api/use-query.ts'
import { AuditedOperation } from '../components/audited-operation.tsx'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { DataTable, PagedTable } from '../components/data-table.tsx'
import { Facts } from '../components/facts.tsx'
import { FailureNote } from '../components/failure.tsx'
import { actorName, Badge, formatTime, Time } from '../components/format.tsx'
import { Loading } from '../components/loading.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Tabs } from '../components/tabs.tsx'
import { usePath } from '../router/router.tsx'
import { signOutEverywhere } from '../shell/sign-out-everywhere.tsx'
import { Members } from './members.tsx'
import { ProviderKeys } from './provider-keys.tsx'
import { TenantData } from './tenant-data.tsx'

/** The tenant itself: what it is, its keys of model providers, its members, who is signed in, and who changed what. */
export function Settings() {
  const path = usePath()
  return (
    <>
      <PageHead title="Settings" />
      <Tabs
        label="Parts of the settings"
        path={path}
        tabs={[
          ['/settings', 'General'],
          ['/settings/members', 'Members'],
          ['/settings/sessions', 'Signed-in browsers'],
          ...(may('analyse') ? [['/settings/audit-log', 'Audit log'] as const] : []),
        ]}
      />
      {path === '/settings' && <General />}
      {path === '/settings/members' && <Members />}
      {path === '/settings/sessions' && <Browsers />}
      {path === '/settings/audit-log' && <AuditLog />}
    </>
  )
}

function General() {
  const { data, error, reload } = useQuery('tenant', async (signal) => (await api.getTenant({ signal })).data)
  return (
    <div class="stack">
      <section class="card">
        <h2>Tenant</h2>
        {error !== undefined && <FailureNote error={error} onRetry={reload} />}
        {data ? (
          <Facts
            facts={[
              ['Name', data.name],
              ['Id', <CopyText text={data.id} label="Copy the id" />],
              ['Roles', data.roles.length === 0 ? 'app, issuer' : data.roles.join(', ')],
              ['Status', <Badge tone={data.status === 'active' ? 'good' : 'bad'}>{data.status}</Badge>],
              ['Created', formatTime(data.created_at)],
            ]}
          />
        ) : (
          error === undefined && <Loading />
        )}
      </section>
      {may('own') && <ProviderKeys />}
      {may('own') && <TenantData />}
    </div>
  )
}

interface Browser {
  id: string
  current: boolean
  created_at: string
  last_used_at: string
  expires_at: string
  address: string | null
  user_agent: string | null
}

function Browsers() {
  const { data, error, reload } = useQuery('browsers', () =>
    askConsole<Browser[]>('GET', '/console/sessions', { csrf: currentSession().csrf }),
  )
  const [isBusy, run] = useAction()
  if (error !== undefined) return <FailureNote error={error} onRetry={reload} />
  if (!data) return <Loading />
  return (
    <>
      <div>
        <button class="button danger" type="button" disabled={isBusy} onClick={() => void run(signOutEverywhere)}>
          Sign out everywhere
        </button>
      </div>
      <DataTable
        caption="Signed-in browsers"
        rows={data}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Browser',
            wide: true,
            cell: ({ user_agent, current }) => (
              <span>
                {browserName(user_agent)} {current && <Badge tone="good">this one</Badge>}
              </span>
            ),
          },
          { title: 'Address', cell: ({ address }) => address ?? '–' },
          { title: 'Signed in', cell: ({ created_at }) => <Time at={created_at} /> },
          { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
          { title: 'Ends', cell: ({ expires_at }) => <Time at={expires_at} /> },
        ]}
      />
    </>
  )
}

/** The product that a User-Agent names: enough to recognise one's own. */
function browserName(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown'
  const product = /(Firefox|Edg|OPR|Chrome|Safari)\/(\d+)/.exec(userAgent)
  const system = /(Android|iPhone|iPad|Mac OS X|Windows|Linux)/.exec(userAgent)?.[1]
  return [product ? `${product[1]} ${product[2]}` : userAgent.slice(0, 60), system].filter(Boolean).join(' on ')
}

function AuditLog() {
  const pages = usePages('audit log', (page, signal) => api.listAuditLog({ query: { limit: 50, ...page }, signal }))
  const [opened, setOpened] = useState<string>()
  return (
    <>
      <div class="card-head">
        <p class="muted">
          Who changed what: members, keys and the operator. Kept for a year, unless the installation says otherwise.
        </p>
        <CurlButton what="read the audit log" call={() => ['listAuditLog', {}]} />
      </div>
      <PagedTable
        caption="Audit log"
        pages={pages}
        keyOf={({ id }) => id}
        empty={<Empty title="Nothing was changed yet" />}
        columns={[
          { title: 'Operation', wide: true, cell: ({ operation }) => <AuditedOperation name={operation} /> },
          { title: 'By', cell: ({ actor }) => actorName(actor) },
          {
            title: 'Outcome',
            cell: ({ outcome, code }) => <Badge tone={outcome === 'done' ? 'good' : 'bad'}>{code ?? outcome}</Badge>,
          },
          {
            title: 'Changed',
            cell: ({ id, targets }) =>
              Object.keys(targets).length === 0 ? (
                '–'
              ) : opened === id ? (
                <code>{JSON.stringify(targets)}</code>
              ) : (
                <button class="button small" type="button" onClick={() => setOpened(id)}>
                  {Object.keys(targets).length} {Object.keys(targets).length === 1 ? 'field' : 'fields'}
                </button>
              ),
          },
          { title: 'Address', cell: ({ address }) => address ?? '–' },
          {
            title: 'Request',
            cell: ({ request_id: id }) => (id === null ? '–' : <CopyText text={id} label="Copy the request id" short />),
          },
          { title: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </>
  )
}
