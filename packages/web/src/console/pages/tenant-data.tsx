import { useState } from 'preact/hooks'
import { api, currentSession, sessionStore } from '../api/api.ts'
import { useAction } from '../api/use-action.ts'
import { downloadExport } from '../parts/download-export.ts'
import { CheckField } from '../parts/fields.tsx'
import { Icon } from '../parts/icon.tsx'
import { confirm } from '../shell/confirm.tsx'

/** All data of the tenant as a file, and its end. Only an owner does either, and only here: a key cannot. */
export function TenantData() {
  const [blobs, setBlobs] = useState(false)
  const [isBusy, run] = useAction()
  const { tenant } = currentSession()
  if (!tenant) return null
  const save = () => downloadExport(`/v1/tenant/export${blobs ? '?blobs=true' : ''}`, tenant.id)
  const remove = async () => {
    const isSure = await confirm({
      title: `Delete ${tenant.name}?`,
      text: (
        <p>
          The tenant is suspended at once: its keys, its pages and this console stop answering. After 7 days, everything that it
          has is deleted. Until then, the operator of the installation can cancel it.
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
    <section class="card" aria-busy={isBusy}>
      <h2>Export and deletion</h2>
      <p class="muted">
        An export has a JSON object on each line: every row that the tenant has, without keys and secrets.{' '}
        <a href="/docs/operating/data-rights" target="_blank" rel="noopener noreferrer">
          What it contains
        </a>
      </p>
      <CheckField label="With the files of artifacts" checked={blobs} onChange={setBlobs} />
      <div class="row-actions">
        <button class="button" type="button" disabled={isBusy} onClick={() => void run(save, 'The export is complete')}>
          <Icon name="download" />
          {isBusy ? 'Reading…' : 'Export all data'}
        </button>
        <button class="button danger" type="button" disabled={isBusy} onClick={() => void remove()}>
          Delete the tenant
        </button>
      </div>
    </section>
  )
}
