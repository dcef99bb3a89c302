import { statement, type Db, type Tx } from '#db/database.ts'

interface Row {
  provider: string
  key_sealed: Buffer
  hint: string
  url: string | null
  set_at: string
}

export interface ProviderKey {
  provider: string
  keySealed: Buffer
  /** The end of the key. */
  hint: string
  /** Where an openai_compatible service is. */
  url: string | null
  setAt: string
}

const listStatement = statement<Row>(
  'provider-keys-list',
  'select provider, key_sealed, hint, url, set_at from provider_keys where tenant_id = $1 order by provider',
)

export async function listProviderKeys(db: Db, tenantId: string): Promise<ProviderKey[]> {
  const rows = await db.query(listStatement, [tenantId])
  return rows.map((row) => ({
    provider: row.provider,
    keySealed: row.key_sealed,
    hint: row.hint,
    url: row.url,
    setAt: row.set_at,
  }))
}

const putStatement = statement<never>(
  'provider-keys-put',
  `insert into provider_keys (tenant_id, provider, key_sealed, hint, url) values ($1, $2, $3, $4, $5)
   on conflict on constraint provider_keys_pkey
     do update set key_sealed = excluded.key_sealed, hint = excluded.hint, url = excluded.url, set_at = now()`,
)

export async function putProviderKey(
  tx: Tx,
  tenantId: string,
  key: Pick<ProviderKey, 'provider' | 'keySealed' | 'hint' | 'url'>,
): Promise<void> {
  await tx.query(putStatement, [tenantId, key.provider, key.keySealed, key.hint, key.url])
}

const deleteStatement = statement<never>(
  'provider-keys-delete',
  'delete from provider_keys where tenant_id = $1 and provider = $2',
)

export async function deleteProviderKey(tx: Tx, tenantId: string, provider: string): Promise<void> {
  await tx.query(deleteStatement, [tenantId, provider])
}
