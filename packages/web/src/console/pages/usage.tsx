import { useMemo } from 'preact/hooks'
import { lastDays, loadUsageDays, type Meter, monthPeriod, type Period, problemOfPeriod, sum } from '../api/usage.ts'
import { useQuery } from '../api/use-query.ts'
import { Chart } from '../components/chart.tsx'
import { toCsv } from '../components/csv.ts'
import { CurlButton } from '../components/curl-button.tsx'
import { DataTable } from '../components/data-table.tsx'
import { download } from '../components/download.ts'
import { FailureNote } from '../components/failure.tsx'
import { FieldErrors } from '../components/field-errors.ts'
import { SelectField, TextField } from '../components/fields.tsx'
import { formatBytes, formatNumber } from '../components/format.tsx'
import { Icon } from '../components/icon.tsx'
import { Loading } from '../components/loading.tsx'
import { PageHead } from '../components/page-head.tsx'
import { useTyped } from '../components/use-typed.ts'
import { useSearch } from '../router/router.tsx'

const meters = ['requests', 'items', 'paints', 'launches', 'credits', 'bytes'] as const satisfies readonly Meter[]
const titles: Record<Meter, string> = {
  requests: 'Requests',
  items: 'Items',
  paints: 'Paintings',
  launches: 'Launches',
  credits: 'Credits',
  bytes: 'Bytes',
}
const spans = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'A year'],
  ['month', 'This month'],
  ['previous-month', 'Previous month'],
  ['dates', 'Other dates'],
] as const

function periodOf(span: (typeof spans)[number][0], search: URLSearchParams): Period {
  if (span === 'month') return monthPeriod('this')
  if (span === 'previous-month') return monthPeriod('previous')
  if (span !== 'dates') return lastDays(Number(span))
  return { from: search.get('from') ?? '', to: search.get('to') ?? '' }
}

/** What the tenant used, by day in UTC. */
export function UsagePage() {
  const [search, change] = useSearch()
  const days = spans.find(([value]) => value === search.get('days'))?.[0] ?? '30'
  const meter = meters.find((one) => one === search.get('meter')) ?? 'requests'
  const period = periodOf(days, search)
  const problem = problemOfPeriod(period)
  const usage = useQuery(`usage ${period.from} ${period.to}`, (signal) =>
    problem ? Promise.resolve(undefined) : loadUsageDays(period, signal),
  )
  const { data } = usage
  const series = useMemo(() => (data ? [{ label: titles[meter], values: data.of(meter) }] : []), [data, meter])
  const format = (value: number) => (meter === 'bytes' ? formatBytes(value) : formatNumber(value))
  const rows = data
    ? data.times.map((time, at) => ({
        day: new Date(time * 1_000).toISOString().slice(0, 10),
        values: meters.map((one) => data.of(one)[at] ?? 0),
      }))
    : []
  const used = rows.toReversed().filter(({ values }) => values.some((value) => value > 0))
  const total = { day: 'Total', values: meters.map((one) => (data ? sum(data.of(one)) : 0)) }
  const save = () => {
    const csv = toCsv(
      ['day', ...meters],
      rows.map(({ day, values }) => [day, ...values]),
    )
    download(`usage-${period.from}-to-${period.to}.csv`, csv, 'text/csv')
  }
  return (
    <>
      <PageHead title="Usage" lead="By day in UTC. Requests and bytes of the last minute may be missing.">
        <CurlButton what="read the usage" call={() => ['getUsage', { query: { ...period, by: 'day' } }]} />
        <button class="button" type="button" disabled={!data} onClick={save}>
          <Icon name="download" />
          Export as CSV
        </button>
      </PageHead>
      <div class="filters">
        <SelectField
          label="Meter"
          path={null}
          value={meter}
          options={meters.map((one) => [one, titles[one]] as const)}
          onChange={(value) => change({ meter: value })}
        />
        <SelectField
          label="Time"
          path={null}
          value={days}
          options={spans}
          // Other dates begin with those that are shown.
          onChange={(value) => change(value === 'dates' ? { days: value, ...period } : { days: value, from: '', to: '' })}
        />
        {days === 'dates' && (
          <FieldErrors.Provider value={{ problems: new Map(), details: problem ? [problem] : [], shown: new Set() }}>
            <DayField label="First day (UTC)" path="/from" value={period.from} onChange={(from) => change({ from })} />
            <DayField label="Last day (UTC)" path="/to" value={period.to} onChange={(to) => change({ to })} />
          </FieldErrors.Provider>
        )}
      </div>
      <p class="visually-hidden" role="status">
        {problem?.message}
      </p>
      {usage.error !== undefined && <FailureNote error={usage.error} onRetry={usage.reload} />}
      {!data && !problem && usage.error === undefined && <Loading lines={8} />}
      {data && (
        <>
          <section class="card figure">
            <h2>
              {titles[meter]}, {period.from} to {period.to}
            </h2>
            <p class="big">{format(sum(data.of(meter)))}</p>
            <Chart label={`${titles[meter]} by day`} times={data.times} series={series} height={220} />
          </section>
          <DataTable
            caption="Usage by day"
            rows={used.length > 0 ? [total, ...used] : []}
            keyOf={({ day }) => day}
            columns={[
              { title: 'Day', wide: true, cell: ({ day }) => <b>{day}</b> },
              ...meters.map((one, at) => ({
                title: titles[one],
                align: 'end' as const,
                cell: ({ values }: { values: number[] }) =>
                  one === 'bytes' ? formatBytes(values[at] ?? 0) : formatNumber(values[at] ?? 0),
              })),
            ]}
          />
        </>
      )}
    </>
  )
}

/** A date is valid after each digit of its year, so its use waits until the typing stops. */
const TYPING_MS = 600

interface DayFieldProps {
  label: string
  path: string
  value: string
  onChange: (value: string) => void
}

function DayField({ label, path, value, onChange }: DayFieldProps) {
  const [text, setText] = useTyped(value, onChange, TYPING_MS)
  return <TextField label={label} path={path} type="date" value={text} onChange={setText} />
}
