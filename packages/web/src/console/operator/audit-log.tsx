import { api } from '../api/api.ts'
import { usePages } from '../api/use-pages.ts'
import { AuditedOperation } from '../components/audited-operation.tsx'
import { CopyText, shortId } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { TextField } from '../components/fields.tsx'
import { actorName, Badge, Time } from '../components/format.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Link, useSearch } from '../router/router.tsx'

const tenantId = /^ten_[0-9A-Za-z]{22}$/

/** Who changed what, in the whole installation. */
export function OperatorAuditLogPage() {
  const [search, setSearch] = useSearch()
  const tenant = search.get('tenant') ?? ''
  const query = tenantId.test(tenant) ? { tenant_id: tenant } : {}
  const pages = usePages(`operator audit log ${query.tenant_id ?? ''}`, (page, signal) =>
    api.listOperatorAuditLog({ query: { ...query, ...page }, signal }),
  )
  return (
    <>
      <PageHead title="Audit log" lead="What operators and tenants changed, newest first. An entry is never changed.">
        <CurlButton what="list these entries" call={() => ['listOperatorAuditLog', { query }]} />
      </PageHead>
      <div class="filters" role="search">
        <TextField
          label="Tenant"
          path={null}
          type="search"
          value={tenant}
          placeholder="ten_…"
          hint={tenant !== '' && !tenantId.test(tenant) ? 'This is not the id of a tenant: all entries are shown.' : undefined}
          onChange={(text) => setSearch({ tenant: text.trim() })}
        />
      </div>
      <PagedTable
        caption="Audit log"
        pages={pages}
        keyOf={({ id }) => id}
        empty={<Empty title="There are no entries" />}
        columns={[
          { title: 'Operation', wide: true, cell: ({ operation }) => <AuditedOperation name={operation} /> },
          { title: 'When', cell: ({ created_at: at }) => <Time at={at} /> },
          { title: 'Who', cell: ({ actor }) => actorName(actor) },
          {
            title: 'Tenant',
            cell: ({ tenant_id: id }) => (id === null ? '–' : <Link to={`/tenants/${id}`}>{shortId(id)}</Link>),
          },
          {
            title: 'Outcome',
            cell: ({ outcome, code }) => <Badge tone={outcome === 'done' ? 'good' : 'bad'}>{code ?? outcome}</Badge>,
          },
          { title: 'Address', cell: ({ address }) => address ?? '–' },
          {
            title: 'Request',
            cell: ({ request_id: id }) => (id === null ? '–' : <CopyText text={id} label="Copy the request id" short />),
          },
        ]}
      />
    </>
  )
}
