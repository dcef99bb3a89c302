import { parseEmail } from '@atrium/identity/email'
import type { Place } from '../../vault/sealed-columns.ts'
import type { Vault } from '../../vault/vault.ts'
import { invalid } from '../../http/api-error.ts'
import { limits } from '@atrium/contract/limits'

/** Who may read an item: e-mail addresses in their normal form, each listed or revoked since. */
export type AccessList = Map<string, 'listed' | 'revoked'>

const place = (tenant: string, itemId: string): Place => ({ tenant, table: 'items', column: 'access_list', row: itemId })

export function openAccessList(vault: Vault, tenantId: string, itemId: string, sealed: Buffer | null): AccessList {
  if (!sealed) return new Map()
  return new Map(JSON.parse(vault.open(sealed, place(tenantId, itemId)).toString()) as [string, 'listed' | 'revoked'][])
}

export function sealAccessList(vault: Vault, tenantId: string, itemId: string, list: AccessList): Buffer {
  return vault.seal(Buffer.from(JSON.stringify([...list])), place(tenantId, itemId))
}

/** The list after granting and revoking; one that is in both is revoked. */
export function changeAccessList(list: AccessList, grant: string[], revoke: string[]): AccessList {
  const changed = new Map(list)
  grant.forEach((email, i) => changed.set(account(email, `/grant/${i}`), 'listed'))
  revoke.forEach((email, i) => {
    const gone = account(email, `/revoke/${i}`)
    // An account that never was on the list stays off it: revoked is said only to those who once could read.
    if (changed.has(gone)) changed.set(gone, 'revoked')
  })
  if (changed.size > limits.accessListEntries) throw invalid('/grant', `at most ${limits.accessListEntries} accounts an item`)
  return changed
}

function account(email: string, path: string): string {
  const normal = parseEmail(email)
  if (normal === undefined) throw invalid(path, 'must be an e-mail address')
  return normal
}
