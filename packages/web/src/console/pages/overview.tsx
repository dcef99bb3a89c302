import { useMemo } from 'preact/hooks'
import { isolated } from '../../space/text/format.ts'
import { api, currentSession } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { FIGURES_MS, usePolling } from '../api/use-polling.ts'
import { useQuery } from '../api/use-query.ts'
import { lastDays, loadUsageDays, type Meter, sum, type UsageDays } from '../api/usage.ts'
import { Chart } from '../components/chart.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { FailureNote } from '../components/failure.tsx'
import { formatNumber, shownTitle, Time } from '../components/format.tsx'
import { Icon } from '../components/icon.tsx'
import { Loading } from '../components/loading.tsx'
import { PageHead } from '../components/page-head.tsx'
import { Link } from '../router/router.tsx'
import { findAttention } from './attention.ts'
import { RequestHealth } from './request-health.tsx'

const DAYS = 30

const meters: readonly (readonly [meter: Meter, title: string])[] = [
  ['requests', 'Requests'],
  ['items', 'Items added'],
  ['launches', 'Sessions launched'],
  ['credits', 'Credits spent'],
]

/** What happened in the last 30 days, and what needs attention. Each part is read again while the page is visible. */
export function Overview() {
  const { tenant } = currentSession()
  const usage = useQuery('usage', (signal) => loadUsageDays(lastDays(DAYS), signal))
  usePolling(usage.refresh, FIGURES_MS)
  return (
    <>
      <PageHead title="Overview" lead={tenant ? `How ${isolated(tenant.name)} is doing.` : undefined} />
      <Attention />
      {may('analyse') && <RequestHealth />}
      {usage.error !== undefined && <FailureNote error={usage.error} onRetry={usage.reload} />}
      {usage.data ? <Figures usage={usage.data} /> : usage.error === undefined && <Loading lines={6} />}
      <Newest />
    </>
  )
}

function Figures({ usage }: { usage: UsageDays }) {
  return (
    <section aria-labelledby="usage">
      <div class="card-head">
        <h2 id="usage">The last {DAYS} days</h2>
        <CurlButton what="read the usage" call={() => ['getUsage', { query: { by: 'day' } }]} />
      </div>
      <div class="figures">
        {meters.map(([meter, title]) => (
          <Figure key={meter} title={title} values={usage.of(meter)} times={usage.times} />
        ))}
      </div>
    </section>
  )
}

function Figure({ title, values, times }: { title: string; values: readonly number[]; times: readonly number[] }) {
  const series = useMemo(() => [{ label: title, values }], [values])
  const total = formatNumber(sum(values))
  return (
    <section class="card figure">
      <h3>{title}</h3>
      <p class="big">{total}</p>
      <Chart
        label={`${title} by day: ${total} in ${DAYS} days, ${formatNumber(values.at(-1) ?? 0)} today`}
        times={times}
        series={series}
      />
    </section>
  )
}

function Attention() {
  const { data, refresh } = useQuery('attention', findAttention)
  usePolling(refresh, FIGURES_MS)
  if (!data || data.length === 0) return null
  return (
    <section class="card attention" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <ul>
        {data.map(({ about, text, to }) => (
          <li key={about}>
            <Icon name="warning" />
            <Link to={to}>{text}</Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

const SHOWN_EVENTS = 8

function Newest() {
  const { data, error, reload, refresh } = useQuery(
    'newest collections',
    async (signal) => (await api.listCollections({ query: { limit: SHOWN_EVENTS }, signal })).data,
  )
  usePolling(refresh, FIGURES_MS)
  if (!data) return error === undefined ? <Loading /> : <FailureNote error={error} onRetry={reload} />
  if (data.length === 0) return <FirstSteps />
  return (
    <section class="card">
      <div class="card-head">
        <h2>Newest collections</h2>
        <Link to="/collections" class="quiet">
          All collections
        </Link>
      </div>
      <ul class="lines">
        {data.map(({ id, metadata, item_count, created_at }) => (
          <li key={id}>
            <Link to={`/collections/${id}`}>{shownTitle(metadata) ?? id}</Link>
            <span class="muted">{formatNumber(item_count)} items shown</span>
            <Time at={created_at} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function FirstSteps() {
  return (
    <section class="card">
      <h2>First steps</h2>
      <ol class="steps">
        <li>
          <Link to="/collections">Make a collection</Link>: it holds what the visitors of your app add.
        </li>
        <li>
          <Link to="/keys">Create a publishable key</Link> for your app, and a secret key for your server.
        </li>
        <li>
          <a href="/docs/guides/quickstart" target="_blank" rel="noopener noreferrer">
            Follow the quickstart
          </a>
          .
        </li>
      </ol>
    </section>
  )
}
