import { escapeHtml } from '@atrium/web/share/escape-html'

/** What `GET /status.json` answers. It says nothing about tenants. */
export interface Status {
  /** unavailable: the database does not answer. */
  status: 'ok' | 'unavailable'
  version: string
  /** The commit that the release archive was made from; null if the process does not run from one. */
  commit: string | null
  /** Address of the certificate of the Space service. */
  space_certificate: string
  /** Address of the newest checkpoint of the transparency log. */
  transparency_log: string
  key_revocation: {
    /** The longest that a revoked key still worked; null: nothing was measured. */
    worst_ms: number | null
    /** How far back the worst value looks. */
    window_seconds: number
    /** The time that no revoked key outlasts. */
    limit_ms: number
  }
}

/** The body of the status page. */
export function statusBody(status: Status): string {
  const { version, commit, key_revocation: revocation } = status
  const link = (address: string) => `<a href="${escapeHtml(address)}">${escapeHtml(address)}</a>`
  const rows = [
    [
      'Version',
      escapeHtml(
        commit === null ? `${version} (not a release archive: its commit is unknown)` : `${version} (${commit.slice(0, 12)})`,
      ),
    ],
    ['Slowest revocation of a key', revocationText(revocation)],
    ['Certificate of Space', link(status.space_certificate)],
    ['Transparency log', link(status.transparency_log)],
  ]
  const state = status.status === 'ok' ? 'This installation answers.' : 'The database does not answer.'
  return (
    `<h1>Status</h1><p class="lead">${state}</p>` +
    `<div class="table"><table><tbody>${rows.map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`).join('')}</tbody></table></div>` +
    `<p>Each API process revokes a key of its own every minute and measures how long it still works. The page shows the ` +
    `slowest of the last hour, of all processes. A revoked key works for at most ${revocation.limit_ms / 1_000} seconds.</p>` +
    `<p>For programs: <a href="/status.json">status.json</a>.</p>`
  )
}

function revocationText({ worst_ms: ms }: Status['key_revocation']): string {
  if (ms === null) return 'not measured in the last hour'
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`
}
