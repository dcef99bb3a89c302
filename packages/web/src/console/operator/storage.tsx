import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { usePages } from '../api/use-pages.ts'
import { useQuery } from '../api/use-query.ts'
import { CurlButton } from '../components/curl-button.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { FailureNote } from '../components/failure.tsx'
import { formatBytes, formatNumber } from '../components/format.tsx'
import { Loading } from '../components/loading.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Link } from '../router/router.tsx'
import { Card, Fact, FactGrid } from './fact-grid.tsx'
import { seenName } from './tenants.tsx'

const SHOWN_TABLES = 12

/** What takes space: files by tenant, and the tables of the database. */
export function StoragePage() {
  const { data, error, reload } = useQuery('storage', async (signal) => (await api.readStorage({ signal })).data)
  const pages = usePages('storage by tenant', (page, signal) => api.listStorage({ query: page, signal }))
  const [isAll, setAll] = useState(false)
  return (
    <>
      <PageHead title="Storage" lead="Files of artifacts, and the database.">
        <CurlButton what="read the sizes" call={() => ['readStorage', {}]} />
      </PageHead>
      <Card title="In all">
        {error !== undefined && <FailureNote error={error} onRetry={reload} />}
        {!data && error === undefined && <Loading lines={2} />}
        {data && (
          <FactGrid>
            <Fact name="Database">{formatBytes(data.database.bytes)}</Fact>
            <Fact name="Artifacts">{formatBytes(data.blobs.artifact_bytes)}</Fact>
            <Fact name="Files are on">{data.blobs.store === 's3' ? 'S3' : 'a disk'}</Fact>
            {data.blobs.free_bytes !== null && data.blobs.disk_bytes !== null && (
              <Fact name="Free on that disk">
                {formatBytes(data.blobs.free_bytes)} of {formatBytes(data.blobs.disk_bytes)}
              </Fact>
            )}
          </FactGrid>
        )}
      </Card>
      <Card title="Artifacts by tenant">
        <PagedTable
          caption="Artifacts by tenant"
          pages={pages}
          keyOf={({ tenant_id: id }) => id}
          empty={<Empty title="No tenant stores artifacts" />}
          columns={[
            {
              title: 'Tenant',
              wide: true,
              cell: ({ tenant_id: id, name }) => (
                <Link to={`/tenants/${id}`} class="row-link">
                  {seenName(name, id)}
                </Link>
              ),
            },
            { title: 'Bytes', align: 'end', cell: ({ stored_bytes: bytes }) => formatBytes(bytes) },
          ]}
        />
      </Card>
      {data && (
        <Card title={isAll ? 'Tables' : 'The largest tables'}>
          <FactGrid>
            {data.database.tables.slice(0, isAll ? undefined : SHOWN_TABLES).map(({ name, bytes, rows }) => (
              <Fact key={name} name={name}>
                {formatBytes(bytes)}
                {rows !== null && <span class="muted">, about {formatNumber(rows)} rows</span>}
              </Fact>
            ))}
          </FactGrid>
          {!isAll && data.database.tables.length > SHOWN_TABLES && (
            <div class="more">
              <button class="button small" type="button" onClick={() => setAll(true)}>
                Show all {data.database.tables.length} tables
              </button>
            </div>
          )}
        </Card>
      )}
    </>
  )
}
