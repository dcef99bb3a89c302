import { isolated } from '../../space/text/format.ts'
import { api, currentSession } from '../api/api.ts'
import { sessionStore } from '../api/session.ts'
import { useAction } from '../api/use-action.ts'
import { TenantExport } from '../components/tenant-export.tsx'
import { confirm } from '../shell/confirm.tsx'

/** All data of the tenant as a file, and its end. Only an owner does either, and only here: a key cannot. */
export function TenantData() {
  const [isBusy, run] = useAction()
  const { tenant } = currentSession()
  if (!tenant) return null
  const remove = async () => {
    const isSure = await confirm({
      title: `Delete ${isolated(tenant.name)}?`,
      text: (
        <p>
          The tenant is suspended immediately: its keys, its pages and this console stop working. After 7 days, its data is
          deleted. Until then, the operator of the installation can cancel the deletion.
        </p>
      ),
      action: 'Delete the tenant',
      typed: tenant.name,
    })
    if (!isSure) return
    await run(async () => {
      await api.deleteOwnTenant({ body: { tenant_id: tenant.id } })
      // Sessions of a suspended tenant are refused.
      sessionStore.update({ session: undefined, ended: true })
    })
  }
  return (
    <>
      <section class="card">
        <h2>Export</h2>
        <TenantExport tenantId={tenant.id} path="/v1/tenant/export" />
      </section>
      <section class="card">
        <h2>Deletion</h2>
        <p class="muted">
          If you delete the tenant, it is suspended immediately, and its data is deleted after 7 days. Export the data first if
          you need it.
        </p>
        <div>
          <button class="button danger" type="button" disabled={isBusy} onClick={() => void remove()}>
            Delete the tenant
          </button>
        </div>
      </section>
    </>
  )
}
