import { useState } from 'preact/hooks'
import { isolated } from '../../space/text/format.ts'
import { api } from '../api/api.ts'
import { useAction } from '../api/use-action.ts'
import { useQuery } from '../api/use-query.ts'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { FailureNote } from '../components/failure.tsx'
import { TextField } from '../components/fields.tsx'
import { formatBytes, formatNumber, Time } from '../components/format.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { Loading } from '../components/loading.tsx'
import { PageHead } from '../components/page-head.tsx'
import { useChanges } from '../components/use-changes.ts'
import { TenantExport } from '../components/tenant-export.tsx'
import { confirm } from '../shell/confirm.tsx'
import { Card, Fact, FactGrid } from './fact-grid.tsx'
import { LimitsCard } from './limits-card.tsx'
import { RolesField } from './roles-field.tsx'
import { seenName, TenantState } from './tenants.tsx'
import { UsageCard } from './usage-card.tsx'

type Tenant = Awaited<ReturnType<typeof api.readTenant>>['data']

/** One tenant: what it is, uses and may use, and what an operator does with it. */
export function TenantPage({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params['id'] ?? ''
  const tenant = useQuery(`tenant ${id}`, async (signal) => (await api.readTenant({ tenant_id: id, signal })).data)
  const limits = useQuery(`limits ${id}`, async (signal) => (await api.getTenantLimits({ tenant_id: id, signal })).data)
  const { data, error, reload } = tenant
  return (
    <>
      <PageHead title={data ? seenName(data.name, data.id) : 'Tenant'} up={{ to: '/tenants', title: 'Tenants' }}>
        {data && <Actions tenant={data} onChanged={reload} />}
      </PageHead>
      {error !== undefined && <FailureNote error={error} onRetry={reload} />}
      {!data && error === undefined && <Loading />}
      {data && (
        <>
          <Card title="Details">
            <FactGrid>
              <Fact name="State">
                <TenantState of={data} />
              </Fact>
              <Fact name="Id">
                <CopyText text={data.id} label="Copy the id" />
              </Fact>
              <Fact name="E-mail address">{data.email ?? 'none'}</Fact>
              <Fact name="Roles">{data.roles.join(', ')}</Fact>
              <Fact name="Active keys">{formatNumber(data.active_keys)}</Fact>
              <Fact name="Last use of a key">
                <Time at={data.last_used_at} />
              </Fact>
              <Fact name="Created">
                <Time at={data.created_at} />
              </Fact>
              {limits.data && <Fact name="Stored artifacts">{formatBytes(limits.data.stored_bytes_used)}</Fact>}
              {data.deletion && (
                <Fact name="Deletion begins">
                  <Time at={data.deletion.due_at} />
                </Fact>
              )}
            </FactGrid>
          </Card>
          <UsageCard tenantId={id} />
          {limits.error !== undefined && <FailureNote error={limits.error} onRetry={limits.reload} />}
          {limits.data && <LimitsCard tenant={data} limits={limits.data} onSaved={(saved) => limits.set(() => saved)} />}
          {data.deletion?.state !== 'done' && (
            <Card title="Export">
              <TenantExport
                tenantId={id}
                path={`/v1/tenants/${id}/export`}
                curl={(query) => ['exportTenant', { tenant_id: id, query }]}
              />
            </Card>
          )}
        </>
      )}
    </>
  )
}

function Actions({ tenant, onChanged }: { tenant: Tenant; onChanged: () => void }) {
  const { id, status, deletion } = tenant
  const name = seenName(tenant.name, id)
  const shown = isolated(name)
  const [isBusy, run] = useAction()
  const [isEdited, setEdited] = useState(false)
  const setStatus = async (to: 'active' | 'suspended') => {
    const isSure =
      to === 'active' ||
      (await confirm({
        title: `Suspend ${shown}?`,
        text: (
          <p>
            Every key and page of {shown} is refused within seconds, until you activate the tenant again. Its sessions and those
            of its agents are stopped and settled. Nothing is deleted.
          </p>
        ),
        action: `Suspend ${shown}`,
      }))
    if (!isSure) return
    const done = to === 'active' ? `${shown} is active` : `${shown} is suspended`
    await run(async () => void (await api.setTenantStatus({ tenant_id: id, body: { status: to } })), done)
    onChanged()
  }
  const schedule = async () => {
    const isSure = await confirm({
      title: `Delete ${shown}?`,
      text: (
        <p>
          {shown} is suspended now. After seven days its data and files are removed, which cannot be undone. Until then you can
          cancel it here.
        </p>
      ),
      action: `Delete ${shown}`,
      typed: name,
    })
    if (!isSure) return
    await run(async () => void (await api.deleteTenant({ tenant_id: id, body: {} })), `${shown} will be deleted`)
    onChanged()
  }
  const cancel = async () => {
    await run(
      async () => void (await api.cancelTenantDeletion({ tenant_id: id })),
      `The deletion of ${shown} is cancelled. Its members must sign in again`,
    )
    onChanged()
  }
  if (deletion)
    return deletion.state === 'scheduled' ? (
      <>
        <CurlButton what="cancel the deletion" call={() => ['cancelTenantDeletion', { tenant_id: id }]} />
        <button class="button" type="button" disabled={isBusy} onClick={() => void cancel()}>
          Cancel the deletion
        </button>
      </>
    ) : null
  const next = status === 'active' ? 'suspended' : 'active'
  return (
    <>
      <CurlButton
        what={next === 'active' ? 'activate this tenant' : 'suspend this tenant'}
        call={() => ['setTenantStatus', { tenant_id: id, body: { status: next } }]}
      />
      <button class="button" type="button" onClick={() => setEdited(true)}>
        Edit
      </button>
      <button class="button" type="button" disabled={isBusy} onClick={() => void setStatus(next)}>
        {next === 'active' ? 'Activate' : 'Suspend'}
      </button>
      <button class="button danger" type="button" disabled={isBusy} onClick={() => void schedule()}>
        Delete
      </button>
      {isEdited && (
        <TenantForm
          tenant={tenant}
          onClose={() => setEdited(false)}
          onSaved={() => {
            setEdited(false)
            onChanged()
          }}
        />
      )}
    </>
  )
}

function TenantForm({ tenant, onClose, onSaved }: { tenant: Tenant; onClose: () => void; onSaved: () => void }) {
  const { values, changes, setter } = useChanges({ name: tenant.name, email: tenant.email ?? '', roles: tenant.roles })
  const { name, email, roles } = changes
  const body = {
    ...(name !== undefined && { name: name.trim() }),
    ...(email !== undefined && { email: email.trim() || null }),
    ...(roles && { roles }),
  }
  return (
    <FormDialog
      title={`Edit ${isolated(tenant.name)}`}
      action="Save"
      onClose={onClose}
      curl={() => ['updateTenant', { tenant_id: tenant.id, body }]}
      onSubmit={async () => {
        if (Object.keys(body).length > 0) await api.updateTenant({ tenant_id: tenant.id, body })
        onSaved()
      }}
    >
      <TextField label="Name" path="/name" value={values.name} onChange={setter('name')} required maxLength={120} />
      <TextField
        label="E-mail address"
        path="/email"
        type="email"
        value={values.email}
        onChange={setter('email')}
        maxLength={254}
        hint="May be empty."
      />
      <RolesField value={values.roles} onChange={setter('roles')} />
    </FormDialog>
  )
}
