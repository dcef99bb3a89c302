import { useMemo } from 'preact/hooks'
import { api } from '../api/api.ts'
import { sum } from '../api/usage.ts'
import { FIGURES_MS, usePolling } from '../api/use-polling.ts'
import { useQuery } from '../api/use-query.ts'
import { Chart } from '../components/chart.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { FailureNote } from '../components/failure.tsx'
import { formatNumber, formatZone } from '../components/format.tsx'
import { Loading } from '../components/loading.tsx'
import { Link } from '../router/router.tsx'

type Summary = Awaited<ReturnType<typeof api.summariseRequests>>['data']
type Tone = 'accent' | 'bad' | 'muted'

/** Requests, errors and times of the last hours, from the request log. */
export function RequestHealth() {
  const { data, error, reload, refresh } = useQuery(
    'request health',
    async (signal) => (await api.summariseRequests({ signal })).data,
  )
  usePolling(refresh, FIGURES_MS)
  if (!data) return error === undefined ? <Loading lines={4} /> : <FailureNote error={error} onRetry={reload} />
  return (
    <section aria-labelledby="request-health">
      <div class="card-head">
        <h2 id="request-health">The last {data.buckets.length} hours</h2>
        {data.enabled && <span class="hint">Times in {formatZone(Date.now() / 1_000)}</span>}
        <CurlButton what="read these counts" call={() => ['summariseRequests', {}]} />
      </div>
      {data.enabled ? (
        <Charts summary={data} />
      ) : (
        <p class="muted">
          Errors and times are not known: requests are not logged. <Link to="/logs">Switch the log on</Link>
        </p>
      )}
    </section>
  )
}

function Charts({ summary: { buckets, sampled } }: { summary: Summary }) {
  const times = useMemo(() => buckets.map(({ at }) => Date.parse(at) / 1_000), [buckets])
  const total = (of: 'requests' | 'refused' | 'failed') => formatNumber(sum(buckets.map((bucket) => bucket[of])))
  const slowest = Math.max(0, ...buckets.map(({ p95_ms: ms }) => ms ?? 0))
  // The counts are exact.
  const about = sampled ? 'about ' : ''
  const figures: [title: string, text: string, lines: [string, Tone, (bucket: Summary['buckets'][number]) => number][]][] = [
    ['Requests', total('requests'), [['Requests', 'accent', ({ requests }) => requests]]],
    [
      'Errors',
      `${total('failed')} failed, ${total('refused')} refused`,
      [
        ['Refused', 'muted', ({ refused }) => refused],
        ['Failed', 'bad', ({ failed }) => failed],
      ],
    ],
    [
      'p95 of the slowest hour',
      slowest === 0 ? '–' : `${about}${slowest.toFixed(slowest < 10 ? 1 : 0)} ms`,
      [['p95', 'accent', ({ p95_ms: ms }) => ms ?? 0]],
    ],
  ]
  return (
    <div class="figures three">
      {figures.map(([title, text, lines]) => (
        <section key={title} class="card figure">
          <h3>{title}</h3>
          <p class="big">{text}</p>
          {title === 'Errors' && (
            <p class="muted">
              In the logs: <Link to="/logs?status=5xx">failed</Link>, <Link to="/logs?status=4xx">refused</Link>
            </p>
          )}
          <Lines label={`${title} by hour: ${text}`} times={times} buckets={buckets} lines={lines} />
        </section>
      ))}
    </div>
  )
}

interface LinesProps {
  label: string
  times: readonly number[]
  buckets: Summary['buckets']
  lines: [string, Tone, (bucket: Summary['buckets'][number]) => number][]
}

function Lines({ label, times, buckets, lines }: LinesProps) {
  const series = useMemo(() => lines.map(([name, tone, of]) => ({ label: name, tone, values: buckets.map(of) })), [buckets])
  return <Chart label={label} times={times} series={series} by="hour" />
}
