import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { useAction } from '../api/use-action.ts'
import { usePages } from '../api/use-pages.ts'
import { LIVE_MS, usePolling } from '../api/use-polling.ts'
import { type Query, useQuery } from '../api/use-query.ts'
import { CopyText, shortId } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { FailureNote } from '../components/failure.tsx'
import { SelectField } from '../components/fields.tsx'
import { Badge, Time } from '../components/format.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Link, useSearch } from '../router/router.tsx'
import { confirm } from '../shell/confirm.tsx'
import { useShortcuts } from '../shell/shortcuts.tsx'
import { SearchField } from './collections.tsx'
import { declaredPath } from './declared-path.ts'
import { Cause, type Logged, LoggedRequest, toneOf } from './logged-request.tsx'

const results = [
  ['', 'Every result'],
  ['errors', 'All errors'],
  ['4xx', 'Refused (4xx)'],
  ['5xx', 'Failed (5xx)'],
  ['2xx', 'Done (2xx)'],
] as const
/** How many days the filter offers: as many as requests are kept by default. */
const DAYS = 7
const dayName = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'short' })
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The requests of the tenant's keys, to find the one that failed by the id that its caller saw. */
export function Logs() {
  const [search, change] = useSearch()
  // With its spaces: the field would lose one that ends a word before the next word is typed.
  const typed = search.get('request') ?? ''
  const given = typed.trim()
  const status = search.get('status') ?? ''
  const days = dayOptions()
  const day = days.find(([value]) => value === search.get('day'))?.[0] ?? ''
  const method = methods.find((one) => one === search.get('method'))
  // Text that is not the id of a request is looked for in the paths.
  const isId = /^req_[A-Za-z0-9]{22}$/.test(given)
  const filters = {
    ...(given === '' ? {} : { path: declaredPath(given) }),
    ...(status === '' ? {} : { status }),
    ...(method === undefined ? {} : { method }),
    ...(day === '' ? {} : { from: midnight(-Number(day)), to: midnight(1 - Number(day)) }),
  }
  const query = { limit: 50, ...(isId ? { request_id: given } : filters) }
  const settings = useQuery('request log', async (signal) => (await api.getRequestLogSettings({ signal })).data)
  const pages = usePages<Logged>(`requests ${JSON.stringify(query)}`, (page, signal) =>
    api.listRequests({ query: { ...query, ...page }, signal }),
  )
  usePolling(() => pages.refresh(({ request_id: id }) => id), LIVE_MS)
  const opened = isId ? pages.rows?.find(({ request_id }) => request_id === given) : undefined
  /** The address of one request, from which "All requests" leads back to the same filters. */
  const addressWith = (request: string) => {
    const next = new URLSearchParams(search)
    next.delete('request')
    if (request !== '') next.set('request', request)
    return next.size === 0 ? '/logs' : `/logs?${next}`
  }
  useShortcuts('Logs', [{ keys: 'r', label: 'Load the newest requests', run: pages.reload }])
  return (
    <>
      <PageHead
        title="Logs"
        lead="The requests of your keys: what was asked, and what the answer was. Without bodies and credentials. New ones appear by themselves."
      >
        <CurlButton what="list these requests" call={() => ['listRequests', { query }]} />
      </PageHead>
      {opened ? (
        <LoggedRequest request={opened} all={addressWith('')} />
      ) : (
        <>
          <div class="filters">
            <SearchField label="Request id or path" value={typed} onChange={(value) => change({ request: value })} />
            <SelectField
              label="Result"
              path={null}
              value={status}
              options={results}
              onChange={(value) => change({ status: value })}
            />
            <SelectField
              path={null}
              label="Method"
              value={method ?? ''}
              options={[['', 'Every method'], ...methods.map((one) => [one, one] as const)]}
              onChange={(value) => change({ method: value })}
            />
            <SelectField label="Day" path={null} value={day} options={days} onChange={(value) => change({ day: value })} />
          </div>
          <PagedTable
            caption="Requests"
            pages={pages}
            keyOf={({ request_id }) => request_id}
            empty={
              <NoRequest given={given} isId={isId} isFiltered={Object.keys(filters).length > 0} days={settings.data?.days} />
            }
            columns={[
              {
                title: 'Request',
                wide: true,
                cell: ({ request_id, method, path }) => (
                  <Link class="row-link" to={addressWith(request_id)}>
                    <b>{method}</b> <code>{path}</code>
                  </Link>
                ),
              },
              { title: 'Status', cell: ({ status }) => <Badge tone={toneOf(status)}>{status}</Badge> },
              { title: 'Error', cell: (request) => <Cause of={request} /> },
              { title: 'Key', cell: ({ key_hint, key_id }) => <code class="nowrap">{key_hint ?? shortId(key_id)}</code> },
              { title: 'Origin', cell: ({ origin }) => origin?.replace('https://', '') ?? 'a server' },
              { title: 'ms', align: 'end', cell: ({ duration_ms }) => duration_ms.toFixed(1) },
              { title: 'Id', cell: ({ request_id }) => <CopyText text={request_id} label="Copy the request id" short /> },
              { title: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
            ]}
          />
        </>
      )}
      <LogSwitch settings={settings} />
    </>
  )
}

interface NoRequestProps {
  given: string
  isId: boolean
  isFiltered: boolean
  /** How long requests are kept; undefined: not known yet. */
  days: number | undefined
}

/** In place of the list, with the reasons why it can be empty. */
function NoRequest({ given, isId, isFiltered, days }: NoRequestProps) {
  const kept = days === undefined || days === 0 ? '' : ` of the last ${days} days`
  if (isId)
    return (
      <Empty title={`No request${kept} has this id`}>
        <p>The request may also belong to another tenant, may have had no valid key, or may be only a few seconds old.</p>
      </Empty>
    )
  if (given.startsWith('req_'))
    return (
      <Empty title="This is not a whole request id">
        <p>A request id is req_ followed by 22 characters. You cannot search for part of an id.</p>
      </Empty>
    )
  if (!isFiltered)
    return (
      <Empty title="There are no requests yet">
        <p>The last seconds may be missing.</p>
      </Empty>
    )
  return (
    <Empty title="No request matches">
      <p>
        A path is searched as a whole: /collections/{'{id}'}/items, or as a caller used it, with the ids in it. The last seconds
        may be missing.
      </p>
    </Empty>
  )
}

function dayOptions(): (readonly [value: string, label: string])[] {
  const dates = Array.from({ length: DAYS }, (_, ago) => {
    const label = ago === 0 ? 'Today' : ago === 1 ? 'Yesterday' : dayName.format(new Date(midnight(-ago)))
    return [`${ago}`, label] as const
  })
  return [['', 'Any day'], ...dates]
}

/** When the day that is so many days from today begins, for the reader. */
function midnight(days: number): string {
  const now = new Date()
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).toISOString()
}

const switchOff = {
  title: 'Switch the request log off?',
  text: <p>Requests that are made while it is off cannot be found later. You can switch it on again at any time.</p>,
  action: 'Switch the log off',
}

type Settings = Awaited<ReturnType<typeof api.getRequestLogSettings>>['data']

function LogSwitch({ settings }: { settings: Query<Settings> }) {
  const [isBusy, run] = useAction()
  const { data, error, reload } = settings
  if (error !== undefined) return <FailureNote error={error} onRetry={reload} />
  if (!data) return null
  if (data.days === 0) return <p class="muted">This installation logs no requests.</p>
  const body = { enabled: !data.enabled }
  const toggle = async () => {
    if (data.enabled && !(await confirm(switchOff))) return
    const { data: changed } = await api.setRequestLogSettings({ body })
    settings.set(() => changed)
  }
  return (
    <div class="card-head">
      <p class="muted">{data.enabled ? `Requests are logged, and kept for ${data.days} days.` : 'Requests are not logged.'}</p>
      {may('develop') && (
        <span class="row-actions">
          <button class="button small" type="button" disabled={isBusy} onClick={() => void run(toggle)}>
            {data.enabled ? 'Switch the log off' : 'Switch the log on'}
          </button>
          <CurlButton what="switch the log" call={() => ['setRequestLogSettings', { body }]} />
        </span>
      )}
    </div>
  )
}
