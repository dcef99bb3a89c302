import { api } from '../api/api.ts'
import { useQuery } from '../api/use-query.ts'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { FailureNote } from '../components/failure.tsx'
import { formatNumber } from '../components/format.tsx'
import { Loading } from '../components/loading.tsx'
import { PageHead } from '../components/page-head.tsx'
import { Card, Fact, FactGrid } from './fact-grid.tsx'

/** What release runs, and what its database has. */
export function VersionsPage() {
  const { data, error, reload } = useQuery('versions', async (signal) => (await api.readVersions({ signal })).data)
  return (
    <>
      <PageHead title="Versions" lead="The release of the process that answered, and what its database has.">
        <CurlButton what="read the versions" call={() => ['readVersions', {}]} />
      </PageHead>
      {error !== undefined && <FailureNote error={error} onRetry={reload} />}
      {!data && error === undefined && <Loading />}
      {data && (
        <>
          <Card title="Release">
            <FactGrid>
              <Fact name="Release">{data.release}</Fact>
              <Fact name="Commit">
                {data.commit === null ? (
                  'unknown: not a release archive'
                ) : (
                  <CopyText text={data.commit} label="Copy the commit" />
                )}
              </Fact>
              <Fact name="API">{data.api}</Fact>
              <Fact name="Node">{data.node}</Fact>
            </FactGrid>
          </Card>
          <Card title="Database">
            <FactGrid>
              <Fact name="PostgreSQL">{data.postgresql}</Fact>
              <Fact name="Citus">{data.citus ?? 'not installed'}</Fact>
              <Fact name="Newest migration">
                <code>{data.schema.newest ?? 'none'}</code>
              </Fact>
              <Fact name="Migrations">{formatNumber(data.schema.migrations)}</Fact>
              <Fact name="Not applied" whole>
                {data.schema.pending.length === 0 ? 'none' : data.schema.pending.join(', ')}
              </Fact>
            </FactGrid>
          </Card>
          <Card title="SQL functions">
            <FactGrid>
              {data.functions.map(({ name, version }) => (
                <Fact key={name} name={name}>
                  version {version}
                </Fact>
              ))}
            </FactGrid>
          </Card>
        </>
      )}
    </>
  )
}
