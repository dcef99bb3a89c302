import { useState } from 'preact/hooks'
import { isolated } from '../../space/text/format.ts'
import { api } from '../api/api.ts'
import { usePages } from '../api/use-pages.ts'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { SelectField, TextField } from '../components/fields.tsx'
import { Badge, Time } from '../components/format.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Link, navigate, useSearch } from '../router/router.tsx'
import { useSecrets } from '../shell/secrets.tsx'
import { useShortcuts } from '../shell/shortcuts.tsx'
import { type Roles, RolesField } from './roles-field.tsx'

type ListedTenant = Awaited<ReturnType<typeof api.listTenants>>['data'][number]
type Created = Awaited<ReturnType<typeof api.createTenant>>['data']

const statuses = [
  ['', 'All'],
  ['active', 'Active'],
  ['suspended', 'Suspended'],
] as const

/** The tenants of the installation, newest first. */
export function TenantsPage() {
  const [search, setSearch] = useSearch()
  const q = search.get('q') ?? ''
  const status = statuses.find(([value]) => value === search.get('status'))?.[0] ?? ''
  const query = { order: 'newest' as const, ...(q === '' ? {} : { q }), ...(status === '' ? {} : { status }) }
  const pages = usePages(`tenants ${q} ${status}`, (page, signal) => api.listTenants({ query: { ...query, ...page }, signal }))
  const [isNew, setNew] = useState(false)
  const showSecret = useSecrets()
  useShortcuts('Tenants', [{ keys: 'n', label: 'New tenant', run: () => setNew(true) }])
  return (
    <>
      <PageHead title="Tenants" lead="Who builds on this installation.">
        <CurlButton what="list these tenants" call={() => ['listTenants', { query }]} />
        <button class="button primary" type="button" onClick={() => setNew(true)}>
          <Icon name="plus" />
          New tenant
        </button>
      </PageHead>
      <div class="filters" role="search">
        <TextField
          path={null}
          label="Search"
          type="search"
          value={q}
          maxLength={120}
          placeholder="Name, e-mail address or id"
          onChange={(text) => setSearch({ q: text })}
        />
        <SelectField
          label="Status"
          path={null}
          value={status}
          options={statuses}
          onChange={(value) => setSearch({ status: value })}
        />
      </div>
      <PagedTable
        caption="Tenants"
        pages={pages}
        keyOf={({ id }) => id}
        empty={<Empty title={q === '' && status === '' ? 'There is no tenant yet' : 'No tenant matches'} />}
        columns={[
          {
            title: 'Name',
            wide: true,
            cell: ({ id, name }) => (
              <Link to={`/tenants/${id}`} class="row-link">
                {seenName(name, id)}
              </Link>
            ),
          },
          { title: 'State', cell: (tenant) => <TenantState of={tenant} /> },
          { title: 'Roles', cell: ({ roles }) => roles.join(', ') },
          { title: 'Id', cell: ({ id }) => <CopyText text={id} label="Copy the id" short /> },
          { title: 'Created', cell: ({ created_at: at }) => <Time at={at} /> },
        ]}
      />
      {isNew && (
        <TenantForm
          onClose={() => setNew(false)}
          onMade={({ tenant, secret_key: secretKey, publishable_key: publishableKey }) => {
            setNew(false)
            pages.reload()
            showSecret({
              title: `The keys of ${isolated(tenant.name)}`,
              text: 'Give them to the tenant over a safe way: the server keeps only their hashes.',
              secrets: [
                ['Secret key', secretKey],
                ['Publishable key', publishableKey],
              ],
              onDone: () => navigate(`/tenants/${tenant.id}`),
            })
          }}
        />
      )}
    </>
  )
}

/** A tenant may choose a name of spaces or invisible characters. Its id stands for such a name. */
export function seenName(name: string, id: string): string {
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(name) ? name : id
}

export function TenantState({ of: { status, deletion } }: { of: Pick<ListedTenant, 'status' | 'deletion'> }) {
  if (deletion) return <Badge tone="bad">{deletion.state === 'done' ? 'deleted' : `deletion ${deletion.state}`}</Badge>
  return <Badge tone={status === 'active' ? 'good' : 'warn'}>{status}</Badge>
}

function TenantForm({ onClose, onMade }: { onClose: () => void; onMade: (created: Created) => void }) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [roles, setRoles] = useState<Roles>(['app', 'issuer'])
  const body = { name: name.trim(), ...(email.trim() === '' ? {} : { email: email.trim() }), roles }
  return (
    <FormDialog
      title="New tenant"
      action="Create the tenant"
      onClose={onClose}
      curl={() => ['createTenant', { body }]}
      onSubmit={async (idempotencyKey) => onMade((await api.createTenant({ body, idempotencyKey })).data)}
    >
      <TextField label="Name" path="/name" value={name} onChange={setName} required maxLength={120} />
      <TextField
        label="E-mail address"
        path="/email"
        type="email"
        value={email}
        onChange={setEmail}
        maxLength={254}
        hint="May be empty."
      />
      <RolesField value={roles} onChange={setRoles} />
    </FormDialog>
  )
}
