import { parseEmail } from '@atrium/identity/email'
import type { Place } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import { invalid } from '#errors/api-error.ts'
import { limits } from '@atrium/contract/limits'

/** Who may read an item or an artifact: e-mail addresses in their normal form, each listed or revoked since. */
export type AccessList = Map<string, 'listed' | 'revoked'>

/** What a list belongs to, and is sealed for. */
export interface Listed {
  tenantId: string
  table: 'items' | 'artifacts'
  id: string
}

function placeOf({ tenantId: tenant, table, id: row }: Listed): Place {
  return { tenant, table, column: 'access_list', row }
}

export function openAccessList(vault: Vault, listed: Listed, sealed: Buffer | null): AccessList {
  if (!sealed) return new Map()
  return new Map(JSON.parse(vault.open(sealed, placeOf(listed)).toString()) as [string, 'listed' | 'revoked'][])
}

/** The sealed list after granting and revoking; the one that was, where nothing is granted or revoked. */
export function changedAccessList(
  vault: Vault,
  listed: Listed,
  sealed: Buffer | null,
  { grant = [], revoke = [] }: { grant?: string[] | undefined; revoke?: string[] | undefined },
): Buffer | null {
  if (grant.length === 0 && revoke.length === 0) return sealed
  const changed = changeAccessList(openAccessList(vault, listed, sealed), grant, revoke)
  return vault.seal(Buffer.from(JSON.stringify([...changed])), placeOf(listed))
}

/** One that is in both is revoked. */
function changeAccessList(list: AccessList, grant: string[], revoke: string[]): AccessList {
  const changed = new Map(list)
  grant.forEach((email, i) => changed.set(account(email, `/grant/${i}`), 'listed'))
  revoke.forEach((email, i) => {
    const gone = account(email, `/revoke/${i}`)
    // An account that never was on the list stays off it: revoked is said only to those who once could read.
    if (changed.has(gone)) changed.set(gone, 'revoked')
  })
  if (changed.size > limits.accessListEntries) throw invalid('/grant', `at most ${limits.accessListEntries} accounts`)
  return changed
}

function account(email: string, path: string): string {
  const normal = parseEmail(email)
  if (normal === undefined) throw invalid(path, 'must be an e-mail address')
  return normal
}
