import { api } from '../api/api.ts'
import { usePages } from '../api/use-pages.ts'
import { usePolling } from '../api/use-polling.ts'
import { useQuery } from '../api/use-query.ts'
import { CurlButton } from '../components/curl-button.tsx'
import { DataTable, PagedTable } from '../components/data-table.tsx'
import { FailureNote } from '../components/failure.tsx'
import { Badge, formatBytes, formatNumber, Time } from '../components/format.tsx'
import { Loading } from '../components/loading.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Card } from './fact-grid.tsx'
import { formatSeconds, isFailing, type Queues, queueTitle } from './health.ts'

const EVERY_MS = 5_000
/** Entries that are due wait for seconds. Longer: nobody works on them. */
const SLOW_SECONDS = 60

/** What runs, what waits, and what is done by the clock. */
export function SystemPage() {
  const queues = useQuery('queues', async (signal) => (await api.readQueues({ signal })).data)
  const processes = usePages('processes', (page, signal) => api.listProcesses({ query: page, signal }))
  usePolling(() => {
    queues.refresh()
    processes.refreshAll()
  }, EVERY_MS)
  return (
    <>
      <PageHead title="Processes and queues" lead="Read again every five seconds while this page is visible." />
      <Card title="Queues" actions={<CurlButton what="read the queues" call={() => ['readQueues', {}]} />}>
        {queues.error !== undefined && <FailureNote error={queues.error} onRetry={queues.reload} />}
        {queues.data?.log_stopped && (
          <p>
            <Badge tone="bad">stopped</Badge> The transparency log signs nothing: {queues.data.log_stopped}
          </p>
        )}
        {queues.data ? <QueueTable queues={queues.data.queues} /> : queues.error === undefined && <Loading />}
      </Card>
      <Card title="Processes" actions={<CurlButton what="list the processes" call={() => ['listProcesses', {}]} />}>
        <PagedTable
          caption="Processes"
          pages={processes}
          keyOf={({ id }) => id}
          empty={<Empty title="No process has reported yet" />}
          columns={[
            {
              title: 'Process',
              wide: true,
              cell: ({ role, host, pid }) => (
                <span>
                  <b>{role === 'api' ? 'API' : 'Job worker'}</b> <span class="muted">{`${pid} on ${host}`}</span>
                </span>
              ),
            },
            {
              title: 'State',
              cell: ({ state }) => <Badge tone={state === 'running' ? 'good' : 'bad'}>{state}</Badge>,
            },
            { title: 'Release', cell: ({ version }) => version },
            { title: 'Node', cell: ({ node }) => node },
            { title: 'Memory', align: 'end', cell: ({ memory_bytes: bytes }) => formatBytes(bytes) },
            { title: 'Started', cell: ({ started_at: at }) => <Time at={at} /> },
            { title: 'Last beat', cell: ({ beat_at: at }) => <Time at={at} /> },
          ]}
        />
      </Card>
      <Card title="Periodic tasks">
        {queues.data ? <SweepTable sweeps={queues.data.sweeps} /> : queues.error === undefined && <Loading />}
      </Card>
    </>
  )
}

function QueueTable({ queues }: { queues: Queues['queues'] }) {
  return (
    <DataTable
      caption="Queues"
      rows={queues}
      keyOf={({ name }) => name}
      columns={[
        { title: 'Queue', wide: true, cell: ({ name }) => <b>{queueTitle(name)}</b> },
        { title: 'Waiting', align: 'end', cell: ({ depth }) => formatNumber(depth) },
        {
          title: 'Oldest',
          align: 'end',
          cell: ({ depth, oldest_seconds: oldest }) => (depth === 0 ? '–' : formatSeconds(oldest)),
        },
        {
          title: 'State',
          cell: ({ depth, oldest_seconds: oldest }) =>
            oldest > SLOW_SECONDS ? (
              <Badge tone="bad">stuck</Badge>
            ) : (
              <Badge tone={depth === 0 ? 'plain' : 'good'}>{depth === 0 ? 'empty' : 'moving'}</Badge>
            ),
        },
      ]}
    />
  )
}

function SweepTable({ sweeps }: { sweeps: Queues['sweeps'] }) {
  if (sweeps.length === 0) return <Empty title="No process has run a task yet" />
  return (
    <DataTable
      caption="Periodic tasks"
      rows={sweeps}
      keyOf={({ name }) => name}
      columns={[
        { title: 'Task', wide: true, cell: ({ name }) => name },
        { title: 'Every', align: 'end', cell: ({ interval_seconds: seconds }) => formatSeconds(seconds) },
        { title: 'Last run', cell: ({ ran_at: at }) => <Time at={at} /> },
        { title: 'Last failure', cell: ({ failed_at: at }) => <Time at={at} /> },
        { title: 'State', cell: (sweep) => <SweepState of={sweep} /> },
      ]}
    />
  )
}

function SweepState({ of: sweep }: { of: Queues['sweeps'][number] }) {
  if (isFailing(sweep)) return <Badge tone="bad">failing</Badge>
  if (sweep.late) return <Badge tone="warn">late</Badge>
  if (sweep.running) return <Badge tone="good">running</Badge>
  return <Badge>on time</Badge>
}
