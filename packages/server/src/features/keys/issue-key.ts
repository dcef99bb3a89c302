import type { Tx } from '#db/database.ts'
import { hashCredential, newCredential, newId } from '#crypto/random.ts'
import { recordEvent } from '../events/record-event.ts'
import type { Key } from './key.ts'
import { insertKey } from './store.ts'

interface IssueKey {
  tenantId: string
  kind: Key['kind']
  name: string | null
  expiresAt: string | null
}

/** Makes a key; its text is in the result and nowhere else. */
export async function issueKey(tx: Tx, { tenantId, kind, name, expiresAt }: IssueKey): Promise<Key & { key: string }> {
  const key = newCredential(kind === 'secret' ? 'secretKey' : 'publishableKey')
  const hint = `${key.slice(0, 4)}…${key.slice(-4)}`
  const row = await insertKey(tx, { tenantId, id: newId('key'), kind, name, hint, keyHash: hashCredential(key), expiresAt })
  await recordEvent(tx, tenantId, 'key.created', { key_id: row.id, kind, expires_at: row.expiresAt })
  return { ...row, key }
}
