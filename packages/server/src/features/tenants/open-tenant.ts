import type { Tx } from '#db/database.ts'
import { newId } from '#crypto/random.ts'
import { issueKey } from '../keys/issue-key.ts'
import { insertTenant, type NewTenant } from './store.ts'
import { tenantView } from './tenant.ts'

/** Creates a tenant and its first two keys, whose text is returned only here. */
export async function openTenant(tx: Tx, terms: NewTenant) {
  const tenant = await insertTenant(tx, newId('tenant'), terms)
  const secret = await issueKey(tx, tenant.id, { kind: 'secret' })
  const publishable = await issueKey(tx, tenant.id, { kind: 'publishable' })
  return { tenant: tenantView(tenant), secret_key: secret.key, publishable_key: publishable.key }
}
