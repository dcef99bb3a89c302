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
  /** The last characters of the key. */
  hint: string
  /** The address of an openai_compatible service; null: a provider whose address is fixed. */
  url: string | null
  setAt: string
}

const columns = 'provider, key_sealed, hint, url, set_at'

function toProviderKey({ key_sealed: keySealed, set_at: setAt, ...same }: Row): ProviderKey {
  return { ...same, keySealed, setAt }
}

const listStatement = statement<Row>(
  'provider-keys-list',
  `select ${columns} from provider_keys where tenant_id = $1 order by provider`,
)

export async function listProviderKeys(db: Db, tenantId: string): Promise<ProviderKey[]> {
  return (await db.query(listStatement, [tenantId])).map(toProviderKey)
}

const upsertStatement = statement<never>(
  'provider-keys-put',
  // On conflict: a second call replaces the provider's key.
  `insert into provider_keys (tenant_id, provider, key_sealed, hint, url) values ($1, $2, $3, $4, $5)
   on conflict on constraint provider_keys_pkey
     do update set key_sealed = excluded.key_sealed, hint = excluded.hint, url = excluded.url, set_at = now()`,
)

export async function upsertProviderKey(tx: Tx, tenantId: string, key: Omit<ProviderKey, 'setAt'>): Promise<void> {
  await tx.query(upsertStatement, [tenantId, key.provider, key.keySealed, key.hint, key.url])
}

const deleteStatement = statement<never>(
  'provider-keys-delete',
  'delete from provider_keys where tenant_id = $1 and provider = $2',
)

export async function deleteProviderKey(tx: Tx, tenantId: string, provider: string): Promise<void> {
  await tx.query(deleteStatement, [tenantId, provider])
}
