import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { usePolling, useReadsAfter } from '../api/use-polling.ts'
import { useQuery } from '../api/use-query.ts'
import { CurlButton } from '../components/curl-button.tsx'
import { DataTable } from '../components/data-table.tsx'
import { FailureNote } from '../components/failure.tsx'
import { Badge, Time } from '../components/format.tsx'
import { Icon } from '../components/icon.tsx'
import { Loading } from '../components/loading.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Link } from '../router/router.tsx'
import { useSecrets } from '../shell/secrets.tsx'
import { useShortcuts } from '../shell/shortcuts.tsx'
import { allTypes, type Endpoint, WebhookForm } from './webhook-form.tsx'
import { readDeliveryHealth, troubleOf } from './webhook-health.ts'

/** Where events are sent. */
export function Webhooks() {
  const endpoints = useQuery('endpoints', async (signal) => (await api.listWebhookEndpoints({ signal })).data)
  const [isNew, setNew] = useState(false)
  const showSigningSecret = useWebhookSecret()
  const mayChange = may('develop')
  useShortcuts('Webhooks', mayChange ? [{ keys: 'n', label: 'New endpoint', run: () => setNew(true) }] : [])
  return (
    <>
      <PageHead
        title="Webhooks"
        lead="Events are sent to your servers, signed, until they answer 2xx: ten attempts over three days."
      >
        <CurlButton what="list the endpoints" call={() => ['listWebhookEndpoints', {}]} />
        {mayChange && (
          <button class="button primary" type="button" onClick={() => setNew(true)}>
            <Icon name="plus" />
            New endpoint
          </button>
        )}
      </PageHead>
      {endpoints.error !== undefined && <FailureNote error={endpoints.error} onRetry={endpoints.reload} />}
      {!endpoints.data && endpoints.error === undefined && <Loading />}
      {endpoints.data?.length === 0 && (
        <Empty title="There is no endpoint yet">
          <p>With an endpoint, your server learns of each event within a second.</p>
        </Empty>
      )}
      {endpoints.data && endpoints.data.length > 0 && (
        <DataTable
          caption="Endpoints"
          rows={endpoints.data}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Address',
              wide: true,
              cell: ({ id, url }) => (
                <Link class="row-link" to={`/webhooks/${id}`}>
                  {url}
                </Link>
              ),
            },
            {
              title: 'Description',
              cell: ({ id, description }) => description ?? (id === 'default' ? 'The default endpoint' : '–'),
            },
            { title: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
            { title: 'Events', cell: ({ events }) => eventsText(events) },
          ]}
        />
      )}
      {isNew && (
        <WebhookForm
          endpoint={undefined}
          onClose={() => setNew(false)}
          onSave={async (body, idempotencyKey) => {
            const { data } = await api.createWebhookEndpoint({ body, idempotencyKey })
            setNew(false)
            endpoints.reload()
            showSigningSecret(data.secret)
          }}
        />
      )}
    </>
  )
}

const HEALTH_MS = 5_000

interface EndpointStateProps {
  endpoint: Pick<Endpoint, 'id' | 'enabled'>
  /** Also what the last failure was. */
  isFull?: boolean
  changes?: number
}

/** Whether events are sent there, and whether the newest ones arrive. */
export function EndpointState({ endpoint: { id, enabled }, isFull = false, changes = 0 }: EndpointStateProps) {
  const { data, refresh } = useQuery(`health ${id}`, (signal) => readDeliveryHealth(id, signal))
  usePolling(refresh, HEALTH_MS)
  useReadsAfter(changes, refresh)
  if (!enabled) return <Badge tone="bad">disabled</Badge>
  const trouble = data ? troubleOf(data) : ''
  if (!data || trouble === '') return <Badge tone="good">enabled</Badge>
  return (
    <span>
      <Badge tone="bad">failing</Badge> Of the newest {data.count}: {trouble}.
      {isFull && data.lastFailure && (
        <>
          <br />
          The last failure, <Time at={data.lastFailure.at} />: {data.lastFailure.text}
        </>
      )}
    </span>
  )
}

export function eventsText(events: Endpoint['events']): string {
  return events.length >= allTypes.length ? 'All types' : events.join(', ')
}

/** Shows the secret of an endpoint, where the server has returned one. */
export function useWebhookSecret(): (secret: string | undefined) => void {
  const showSecret = useSecrets()
  return (secret) => {
    if (secret === undefined) return
    showSecret({
      title: 'The signing secret',
      text: 'Your server checks with it that a delivery comes from here. After a rotation both secrets sign for 24 hours.',
      secrets: [['Signing secret', secret]],
    })
  }
}
