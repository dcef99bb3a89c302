import type { Database } from '../../db/database.ts'
import { openTenant } from './open-tenant.ts'
import { hasTenants } from './store.ts'
import { developmentName } from './tenant.ts'

export interface DevelopmentKeys {
  secretKey: string
  publishableKey: string
}

/** On a database without any tenant makes one to try things with; its keys are known only this once. */
export function openDevelopmentTenant(db: Database): Promise<DevelopmentKeys | undefined> {
  return db.transaction(async (tx) => {
    if (await hasTenants(tx)) return undefined
    const { secret_key: secretKey, publishable_key: publishableKey } = await openTenant(tx, {
      name: developmentName,
      email: null,
      roles: null,
    })
    return { secretKey, publishableKey }
  })
}
