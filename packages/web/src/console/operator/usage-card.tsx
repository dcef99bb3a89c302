import { api } from '../api/api.ts'
import { useQuery } from '../api/use-query.ts'
import { type Usage } from '../api/usage.ts'
import { CurlButton } from '../components/curl-button.tsx'
import { DataTable } from '../components/data-table.tsx'
import { FailureNote } from '../components/failure.tsx'
import { formatBytes, formatNumber } from '../components/format.tsx'
import { Loading } from '../components/loading.tsx'
import { Card } from './fact-grid.tsx'

const MONTHS = 3
const meters = [
  ['requests', 'Requests'],
  ['items', 'Items'],
  ['paints', 'Paintings'],
  ['launches', 'Sessions'],
  ['credits', 'Credits'],
] as const

/** What a tenant used in the last months. */
export function UsageCard({ tenantId }: { tenantId: string }) {
  const query = { from: firstDay(), by: 'month' as const }
  const { data, error, reload } = useQuery(
    `usage ${tenantId}`,
    async (signal) => (await api.readTenantUsage({ tenant_id: tenantId, query, signal })).data,
  )
  const periods = [...new Set(data?.map(({ period }) => period))].toSorted().toReversed()
  const of = (period: string, meter: Usage['meter']) =>
    data?.find((row) => row.period === period && row.meter === meter)?.quantity ?? 0
  return (
    <Card
      title="Usage"
      actions={<CurlButton what="read the usage" call={() => ['readTenantUsage', { tenant_id: tenantId, query }]} />}
    >
      {error !== undefined && <FailureNote error={error} onRetry={reload} />}
      {!data && error === undefined && <Loading lines={2} />}
      {data && periods.length === 0 && <p class="muted">Nothing in the last {MONTHS} months.</p>}
      {periods.length > 0 && (
        <DataTable
          caption="Usage by month"
          rows={periods}
          keyOf={(period) => period}
          columns={[
            { title: 'Month', wide: true, cell: (period) => <b>{period}</b> },
            ...meters.map(([meter, title]) => ({
              title,
              align: 'end' as const,
              cell: (period: string) => formatNumber(of(period, meter)),
            })),
            { title: 'Traffic', align: 'end', cell: (period) => formatBytes(of(period, 'bytes')) },
          ]}
        />
      )}
    </Card>
  )
}

/** The first day of the first of the months, in UTC. */
function firstDay(): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - (MONTHS - 1), 1)).toISOString().slice(0, 10)
}
