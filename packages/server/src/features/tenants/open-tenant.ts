import { hash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isCredential } from '@atrium/contract/tokens'
import { newId } from '#crypto/random.ts'
import type { Database, Tx } from '#db/database.ts'
import { issueKey } from '#features/keys/issue-key.ts'
import { refusalOf } from '#features/keys/key.ts'
import { hasSecretKey, resolveKeys } from '#features/keys/store.ts'
import { type NewTenant, findDevelopmentTenant, hasTenants, insertTenant } from './store.ts'
import { developmentName, tenantView } from './tenant.ts'

/** Creates a tenant and its first two keys, whose text is returned only here. */
export async function openTenant(tx: Tx, terms: NewTenant) {
  const tenant = await insertTenant(tx, newId('tenant'), terms)
  const secret = await issueKey(tx, tenant.id, { kind: 'secret' })
  const publishable = await issueKey(tx, tenant.id, { kind: 'publishable' })
  return { tenant: tenantView(tenant), secret_key: secret.key, publishable_key: publishable.key }
}

export interface DevelopmentKeys {
  secretKey: string
  publishableKey: string
}

/** Creates a tenant for development if the database has none. The tenant has no keys yet. */
export function makeDevelopmentTenant(db: Database): Promise<void> {
  return db.transaction(async (tx) => {
    if (await hasTenants(tx)) return
    await insertTenant(tx, newId('tenant'), { name: developmentName, email: null, roles: null })
  })
}

/**
 * Creates the first keys of the development tenant, whose text is returned only here. The caller does this when all
 * else has started and can print them, so that a failed start leaves no unknown keys. undefined: the tenant has a
 * secret key, or there is no such tenant.
 */
export function issueDevelopmentKeys(db: Database): Promise<DevelopmentKeys | undefined> {
  return db.transaction(async (tx) => {
    const tenantId = await findDevelopmentTenant(tx)
    if (tenantId === undefined) return undefined
    if (await hasSecretKey(tx, tenantId)) return undefined
    const secret = await issueKey(tx, tenantId, { kind: 'secret' })
    const publishable = await issueKey(tx, tenantId, { kind: 'publishable' })
    return { secretKey: secret.key, publishableKey: publishable.key }
  })
}

/**
 * Returns the publishable key of the development tenant that the Space app uses in development. It is created once and
 * kept in the data folder, since the database has only its hash. undefined: there is no such tenant.
 */
export async function findOrIssueSpaceAppKey(db: Database, dataDir: string): Promise<string | undefined> {
  const path = join(dataDir, 'space-app-key')
  const kept = (await readFile(path, 'utf8').catch(() => '')).trim()
  if (isCredential('publishableKey', kept) && (await isAccepted(db, kept))) return kept
  return db.transaction(async (tx) => {
    const tenantId = await findDevelopmentTenant(tx)
    if (tenantId === undefined) return undefined
    const { key } = await issueKey(tx, tenantId, { kind: 'publishable', name: 'Space app' })
    // Before the commit: the next start replaces a kept key that was never committed, but could not find a committed
    // key that was not kept.
    await writeFile(path, `${key}\n`, { mode: 0o600 })
    return key
  })
}

async function isAccepted(db: Database, key: string): Promise<boolean> {
  const [resolved] = await resolveKeys(db, [hash('sha256', key, 'base64')])
  return refusalOf(resolved, Date.now()) === undefined
}
