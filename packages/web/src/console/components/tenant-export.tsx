import { useState } from 'preact/hooks'
import type { CurlCall } from '../api/curl.ts'
import { useAction } from '../api/use-action.ts'
import { CurlButton } from './curl-button.tsx'
import { downloadExport } from './download-export.ts'
import { CheckField } from './fields.tsx'
import { Icon } from './icon.tsx'

interface TenantExportProps {
  tenantId: string
  /** The operation that exports, without its query. */
  path: string
  /** The call to copy as curl; absent: only a session may call it. */
  curl?: (query: { blobs?: true }) => CurlCall
}

/** Saves all data of a tenant as a file. */
export function TenantExport({ tenantId, path, curl }: TenantExportProps) {
  const [blobs, setBlobs] = useState(false)
  const [isBusy, run] = useAction()
  const save = () => downloadExport(`${path}${blobs ? '?blobs=true' : ''}`, tenantId)
  return (
    <>
      <p class="muted">
        An export has a JSON object on each line: every row that the tenant has, without keys and secrets.{' '}
        <a href="/docs/operating/data-rights" target="_blank" rel="noopener noreferrer">
          What it contains
        </a>
      </p>
      <CheckField path={null} label="With the files of artifacts" checked={blobs} onChange={setBlobs} />
      <div class="row-actions" aria-busy={isBusy}>
        <button class="button" type="button" disabled={isBusy} onClick={() => void run(save, 'The export is complete')}>
          <Icon name="download" />
          {isBusy ? 'Reading…' : 'Export all data'}
        </button>
        {curl && <CurlButton what="export all data" call={() => curl(blobs ? { blobs } : {})} />}
      </div>
    </>
  )
}
