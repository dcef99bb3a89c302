import type { Database } from '#db/database.ts'
import { newId } from '#crypto/random.ts'
import { issueKey } from '../keys/issue-key.ts'
import { listKeysForUpdate } from '../keys/store.ts'
import { findDevelopmentTenant, hasTenants, insertTenant } from './store.ts'
import { developmentName } from './tenant.ts'

export interface DevelopmentKeys {
  secretKey: string
  publishableKey: string
}

/** On a database without any tenant makes one to try things with. It has no keys yet. */
export function makeDevelopmentTenant(db: Database): Promise<void> {
  return db.transaction(async (tx) => {
    if (await hasTenants(tx)) return
    await insertTenant(tx, { id: newId('tenant'), name: developmentName, email: null, roles: null })
  })
}

/**
 * The first keys of the development tenant, known only this once: made when all else has started and they can be printed, so that a start which
 * fails leaves none that nobody has seen. undefined: it has a secret key, or there is no such tenant.
 */
export function issueDevelopmentKeys(db: Database): Promise<DevelopmentKeys | undefined> {
  return db.transaction(async (tx) => {
    const tenantId = await findDevelopmentTenant(tx)
    if (tenantId === undefined) return undefined
    const keys = await listKeysForUpdate(tx, tenantId)
    if (keys.some(({ kind }) => kind === 'secret')) return undefined
    const secret = await issueKey(tx, { tenantId, kind: 'secret', name: null, expiresAt: null })
    const publishable = await issueKey(tx, { tenantId, kind: 'publishable', name: null, expiresAt: null })
    return { secretKey: secret.key, publishableKey: publishable.key }
  })
}
