import type { Tx } from '#db/database.ts'
import { newId } from '#crypto/random.ts'
import { issueKey } from '../keys/issue-key.ts'
import { insertTenant } from './store.ts'
import type { Role } from '../keys/role.ts'
import { tenantView } from './tenant.ts'

/** Makes a tenant and its first two keys, whose text is known only now. */
export async function openTenant(tx: Tx, { name, email, roles }: { name: string; email: string | null; roles: Role[] | null }) {
  const tenant = await insertTenant(tx, { id: newId('tenant'), name, email, roles })
  const secret = await issueKey(tx, { tenantId: tenant.id, kind: 'secret', name: null, expiresAt: null })
  const publishable = await issueKey(tx, { tenantId: tenant.id, kind: 'publishable', name: null, expiresAt: null })
  return { tenant: tenantView(tenant), secret_key: secret.key, publishable_key: publishable.key }
}
