import { api } from '../api/api.ts'
import { usePages } from '../api/use-pages.ts'
import { usePolling } from '../api/use-polling.ts'
import { useQuery } from '../api/use-query.ts'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { FailureNote } from '../components/failure.tsx'
import { Badge, Time } from '../components/format.tsx'
import { Loading } from '../components/loading.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Card, Fact, FactGrid } from './fact-grid.tsx'
import type { Space } from './health.ts'

const EVERY_MS = 30_000
const tones = { answering: 'good', invalid: 'bad', unreachable: 'bad' } as const

/** The certificate that the Space service answers with, and those that it had before. */
export function SpacePage() {
  const space = useQuery('space', async (signal) => (await api.readSpace({ signal })).data)
  const pages = usePages('certificates', (page, signal) => api.listCertificates({ query: page, signal }))
  usePolling(() => {
    space.refresh()
    pages.refreshAll()
  }, EVERY_MS)
  const { data, error, reload } = space
  return (
    <>
      <PageHead title="Space" lead="What the certified service says of itself. Its rooms cannot be read from here.">
        <CurlButton what="read the certificate" call={() => ['readSpace', {}]} />
      </PageHead>
      <Card title="Served now">
        {error !== undefined && <FailureNote error={error} onRetry={reload} />}
        {!data && error === undefined && <Loading />}
        {data && <Served space={data} />}
      </Card>
      <Card title="Certificates">
        <PagedTable
          caption="Certificates"
          pages={pages}
          keyOf={({ digest }) => digest}
          empty={<Empty title="No certificate is recorded yet" />}
          columns={[
            { title: 'Digest', wide: true, cell: ({ digest }) => <Digest text={digest} label="Copy the digest" /> },
            {
              title: 'Commit',
              cell: ({ git_commit: commit }) => (commit === null ? '–' : <Digest text={commit} label="Copy the commit" />),
            },
            { title: 'First seen', cell: ({ first_seen_at: at }) => <Time at={at} /> },
            { title: 'Last seen', cell: ({ last_seen_at: at }) => <Time at={at} /> },
          ]}
        />
      </Card>
    </>
  )
}

/** The beginning of a hash. A click copies all of it. */
function Digest({ text, label }: { text: string; label: string }) {
  return <CopyText text={text} label={label} short />
}

function Served({ space: { url, state, certificate } }: { space: Space }) {
  return (
    <FactGrid>
      <Fact name="State">
        <Badge tone={tones[state]}>{state}</Badge>
      </Fact>
      <Fact name="Address">
        <a href={url} target="_blank" rel="noopener noreferrer">
          {url}
        </a>
      </Fact>
      {certificate && (
        <>
          <Fact name="Since">{certificate.first_seen_at === null ? 'just now' : <Time at={certificate.first_seen_at} />}</Fact>
          <Fact name="May connect to">{certificate.egress.join(', ')}</Fact>
          <Fact name="Commit" whole>
            {certificate.git_commit === null ? '–' : <CopyText text={certificate.git_commit} label="Copy the commit" />}
          </Fact>
          <Fact name="Digest of the certificate (SHA-256)" whole>
            <CopyText text={certificate.digest} label="Copy the digest" />
          </Fact>
          <Fact name="Code (SHA-256)" whole>
            <code>{certificate.function_code_sha256 ?? '–'}</code>
          </Fact>
          <Fact name="Source (SHA-256)" whole>
            <code>{certificate.source_sha256 ?? '–'}</code>
          </Fact>
          <Fact name="Key (RFC 7638 thumbprint)" whole>
            <CopyText text={certificate.key_thumbprint} label="Copy the thumbprint" />
          </Fact>
        </>
      )}
    </FactGrid>
  )
}
