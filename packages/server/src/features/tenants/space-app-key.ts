import { hash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isCredential } from '@atrium/contract/tokens'
import type { Database } from '#db/database.ts'
import { issueKey } from '../keys/issue-key.ts'
import { refusalOf } from '../keys/resolved-key.ts'
import { resolveKeys } from '../keys/store.ts'
import { findDevelopmentTenant } from './store.ts'

/**
 * The publishable key that the Space app uses in development: of the development tenant, made once and kept in the data folder, since the
 * database has only its hash. undefined: there is no such tenant.
 */
export async function keepSpaceAppKey(db: Database, dataDir: string): Promise<string | undefined> {
  const path = join(dataDir, 'space-app-key')
  const kept = (await readFile(path, 'utf8').catch(() => '')).trim()
  if (isCredential('publishableKey', kept) && (await lives(db, kept))) return kept
  return db.transaction(async (tx) => {
    const tenantId = await findDevelopmentTenant(tx)
    if (tenantId === undefined) return undefined
    const { key } = await issueKey(tx, { tenantId, kind: 'publishable', name: 'Space app', expiresAt: null })
    // Before the commit: a kept key that never came to be is replaced at the next start, one that was not kept would stay for ever.
    await writeFile(path, `${key}\n`, { mode: 0o600 })
    return key
  })
}

async function lives(db: Database, key: string): Promise<boolean> {
  const [found] = await resolveKeys(db, [hash('sha256', key, 'base64')])
  return refusalOf(found, Date.now()) === undefined
}
