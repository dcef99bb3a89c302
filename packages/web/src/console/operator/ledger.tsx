import { api } from '../api/api.ts'
import { useAction } from '../api/use-action.ts'
import { usePages } from '../api/use-pages.ts'
import { usePolling } from '../api/use-polling.ts'
import { useQuery } from '../api/use-query.ts'
import { CurlButton } from '../components/curl-button.tsx'
import { DataTable, PagedTable } from '../components/data-table.tsx'
import { FailureNote } from '../components/failure.tsx'
import { Badge, formatNumber, Time } from '../components/format.tsx'
import { Loading } from '../components/loading.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Link, navigate } from '../router/router.tsx'
import { Card, Fact, FactGrid } from './fact-grid.tsx'

type Audit = Awaited<ReturnType<typeof api.listAudits>>['data'][number]

const EVERY_MS = 2_000
const isOpen = ({ state }: Audit) => state === 'queued' || state === 'running'

/** Whether the books are right: the continuous audit, and audits of everything that an operator starts. */
export function LedgerPage() {
  const ledger = useQuery('ledger', async (signal) => (await api.readLedgerProof({ signal })).data)
  const pages = usePages('audits', (page, signal) => api.listAudits({ query: page, signal }))
  const [isBusy, run] = useAction()
  const hasOpen = pages.rows?.some(isOpen) ?? false
  usePolling(() => {
    if (hasOpen) pages.refreshAll()
  }, EVERY_MS)
  const start = () =>
    run(async () => {
      const { data } = await api.startAudit()
      navigate(`/ledger/${data.id}`)
    })
  const proof = ledger.data?.proof
  return (
    <>
      <PageHead title="Ledger" lead="Every credit is in the books. An audit compares each balance with its movements.">
        <CurlButton what="start an audit" call={() => ['startAudit', {}]} />
        <button class="button primary" type="button" disabled={isBusy || hasOpen} onClick={() => void start()}>
          Start an audit
        </button>
      </PageHead>
      <Card title="Continuous audit">
        {ledger.error !== undefined && <FailureNote error={ledger.error} onRetry={ledger.reload} />}
        {!ledger.data && ledger.error === undefined && <Loading lines={2} />}
        {ledger.data && !proof && <p class="muted">It runs for the first time within a minute of the start.</p>}
        {proof && (
          <FactGrid>
            <Fact name="Result">
              <Result findings={proof.findings} />
            </Fact>
            <Fact name="Credits in circulation">{formatNumber(proof.credits)}</Fact>
            <Fact name="Last step">
              <Time at={proof.proved_at} />
            </Fact>
            <Fact name="Everything read">
              <Time at={proof.full_at} />
            </Fact>
          </FactGrid>
        )}
      </Card>
      <Card title="Audits of everything">
        <PagedTable
          caption="Audits"
          pages={pages}
          keyOf={({ id }) => id}
          empty={<Empty title="No operator has started an audit yet" />}
          columns={[
            {
              title: 'Started',
              wide: true,
              cell: ({ id, created_at: at }) => (
                <Link to={`/ledger/${id}`} class="row-link">
                  <Time at={at} />
                </Link>
              ),
            },
            { title: 'State', cell: (audit) => <AuditState of={audit} /> },
            { title: 'Transfers', align: 'end', cell: ({ transfers }) => shown(transfers) },
            { title: 'Accounts', align: 'end', cell: ({ accounts }) => shown(accounts) },
            { title: 'Credits', align: 'end', cell: ({ credits }) => shown(credits) },
          ]}
        />
      </Card>
    </>
  )
}

function shown(value: number | null): string {
  return value === null ? '–' : formatNumber(value)
}

function Result({ findings }: { findings: number }) {
  if (findings === 0) return <Badge tone="good">consistent</Badge>
  return <Badge tone="bad">{findings === 1 ? '1 inconsistency' : `${formatNumber(findings)} inconsistencies`}</Badge>
}

function AuditState({ of: audit }: { of: Audit }) {
  if (audit.state === 'done') return <Result findings={audit.finding_count} />
  if (audit.state === 'failed') return <Badge tone="bad">failed</Badge>
  return <Badge tone="warn">{audit.state === 'queued' ? 'queued' : `${audit.rules_checked} of ${audit.rules} rules`}</Badge>
}

/** One audit: its progress, then its findings. */
export function AuditPage({ params }: { params: Readonly<Record<string, string>> }) {
  const auditId = params['id'] ?? ''
  const { data, error, reload, refresh } = useQuery(
    `audit ${auditId}`,
    async (signal) => (await api.readAudit({ auditId, signal })).data,
  )
  usePolling(() => {
    if (data && isOpen(data)) refresh()
  }, 1_000)
  return (
    <>
      <PageHead title="Audit" up={{ to: '/ledger', title: 'Ledger' }}>
        <CurlButton what="read this audit" call={() => ['readAudit', { auditId }]} />
      </PageHead>
      {error !== undefined && <FailureNote error={error} onRetry={reload} />}
      {!data && error === undefined && <Loading />}
      {data && (
        <>
          <Card title="Progress">
            <FactGrid>
              <Fact name="State">
                <AuditState of={data} />
              </Fact>
              <Fact name="Rules checked">
                <progress class="meter" value={data.rules_checked} max={data.rules} aria-label="Rules checked" />{' '}
                {data.rules_checked} of {data.rules}
              </Fact>
              <Fact name="Transfers">{shown(data.transfers)}</Fact>
              <Fact name="Accounts">{shown(data.accounts)}</Fact>
              <Fact name="Credits in circulation">{shown(data.credits)}</Fact>
              <Fact name="Ended">{data.finished_at === null ? 'not yet' : <Time at={data.finished_at} />}</Fact>
            </FactGrid>
            {data.state === 'failed' && (
              <p class="muted">It did not end within ten minutes, or the database refused it. The log names the reason.</p>
            )}
          </Card>
          {data.state === 'done' && (
            <Card title="Findings">
              {data.findings.length === 0 ? (
                <p class="muted">Every balance is the sum of its movements.</p>
              ) : (
                <DataTable
                  caption="Findings"
                  rows={data.findings.map((finding, at) => ({ ...finding, at }))}
                  keyOf={({ at }) => String(at)}
                  columns={[
                    { title: 'Broken rule', wide: true, cell: ({ rule }) => <b>{rule}</b> },
                    { title: 'Account or hold', cell: ({ subject }) => <code>{subject}</code> },
                    { title: 'Detail', cell: ({ detail }) => detail },
                  ]}
                />
              )}
            </Card>
          )}
        </>
      )}
    </>
  )
}
