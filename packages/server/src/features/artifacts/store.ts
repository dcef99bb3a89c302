import { statement, type Db, type Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import type { Artifact, ListedArtifact, LocatedArtifact } from './artifact.ts'

type Row = Omit<Artifact, 'createdAt'> & { created_at: string }
/** Only single reads include the access list: it can name a thousand accounts. */
type ListedRow = Row & { access_list: Buffer | null }
type LocatedRow = ListedRow & { tenant_id: string; collection_id: string }

const columns = `id, seq, kind, source, url, status, stage, approved, published, hero, archived, access, title, alt, width, height, mime,
  bytes, sha256, provider, model, seed, error, created_at`

function toArtifact({ created_at: createdAt, ...same }: Row): Artifact {
  return { ...same, createdAt }
}

function toListedArtifact({ access_list: accessList, ...row }: ListedRow): ListedArtifact {
  return { ...toArtifact(row), accessList }
}

function toLocatedArtifact({ tenant_id: tenantId, collection_id: collectionId, ...row }: LocatedRow): LocatedArtifact {
  return { tenantId, collectionId, ...toListedArtifact(row) }
}

/**
 * Adding an artifact locks its collection, so that the deletion of the collection finds the artifact. A foreign key
 * still does the same, for processes of an earlier release: see decision 0076.
 */
const ofCollection = 'from collections c where c.tenant_id = $1 and c.id = $2 for key share returning id'

const insertHostedStatement = statement<{ id: string }>(
  'artifacts-insert-hosted',
  `insert into artifacts (tenant_id, collection_id, id, kind, source, url, status, stage, title, alt)
   select $1, $2, $3, $4, 'url', $5, 'ready', 'done', $6, $7 ${ofCollection}`,
)

type HostedArtifact = Pick<Artifact, 'id' | 'kind' | 'url' | 'title' | 'alt'>

/**
 * Inserts an artifact whose bytes another host serves: it is ready at once. Throws not_found if the collection does
 * not exist.
 */
export async function insertHostedArtifact(
  tx: Tx,
  tenantId: string,
  collectionId: string,
  artifact: HostedArtifact,
): Promise<void> {
  const { id, kind, url, title, alt } = artifact
  assertFound(await tx.query(insertHostedStatement, [tenantId, collectionId, id, kind, url, title, alt]))
}

const insertPendingStatement = statement<{ id: string }>(
  'artifacts-insert-made',
  `insert into artifacts (tenant_id, collection_id, id, kind, source, status, stage, title, error, alt)
   select $1, $2, $3, $4, $5, $6, $7, $8, $9::json, $10 ${ofCollection}`,
)

type PendingArtifact = Pick<Artifact, 'id' | 'kind' | 'source' | 'status' | 'stage' | 'title' | 'error'> &
  Partial<Pick<Artifact, 'alt'>>

/** Inserts an artifact whose bytes are yet to be generated or uploaded. Throws not_found without its collection. */
export async function insertPendingArtifact(
  tx: Tx,
  tenantId: string,
  collectionId: string,
  artifact: PendingArtifact,
): Promise<void> {
  const { id, kind, source, status, stage, title, error, alt = null } = artifact
  const values = [tenantId, collectionId, id, kind, source, status, stage, title, error && JSON.stringify(error), alt]
  assertFound(await tx.query(insertPendingStatement, values))
}

function assertFound(inserted: unknown[]): void {
  if (inserted.length === 0) throw new ApiError('not_found')
}

const stageStatement = statement<never>(
  'artifacts-stage',
  `update artifacts set stage = $4 where tenant_id = $1 and collection_id = $2 and id = $3 and status = 'painting'`,
)

/** Records the progress of a generation. */
export async function updateStage(
  db: Db,
  tenantId: string,
  collectionId: string,
  { id, stage }: Pick<Artifact, 'id' | 'stage'>,
): Promise<void> {
  await db.query(stageStatement, [tenantId, collectionId, id, stage])
}

const readyStatement = statement<never>(
  'artifacts-made',
  `update artifacts
   set status = 'ready', stage = 'done', url = $4, mime = $5, width = $6, height = $7, bytes = $8, sha256 = $9, alt = coalesce(alt, $10),
     provider = $11, model = $12, seed = $13
   where tenant_id = $1 and collection_id = $2 and id = $3`,
)

/** What painted a picture. */
export interface Painted {
  provider: string
  model: string
  seed: number
}

/** Makes an artifact ready whose bytes are stored. */
export async function updateReady(
  tx: Tx,
  tenantId: string,
  collectionId: string,
  ready: Pick<Artifact, 'id' | 'url' | 'mime' | 'width' | 'height' | 'bytes' | 'sha256' | 'alt'> & { painted?: Painted | null },
): Promise<void> {
  const { id, url, mime, width, height, bytes, sha256, alt, painted } = ready
  const values = [tenantId, collectionId, id, url, mime, width, height, bytes, sha256, alt]
  await tx.query(readyStatement, [...values, painted?.provider ?? null, painted?.model ?? null, painted?.seed ?? null])
}

const failedStatement = statement<never>(
  'artifacts-failed',
  `update artifacts set status = $4, stage = 'done', error = $5 where tenant_id = $1 and collection_id = $2 and id = $3`,
)

export async function updateFailed(
  tx: Tx,
  tenantId: string,
  collectionId: string,
  { id, status, error }: Pick<Artifact, 'id' | 'status' | 'error'>,
): Promise<void> {
  await tx.query(failedStatement, [tenantId, collectionId, id, status, JSON.stringify(error)])
}

const listStatement = statement<Row>(
  'artifacts-list',
  `select ${columns} from artifacts
   where tenant_id = $1 and collection_id = $2 and seq > $3
     and ($5 = 'owner' or (published and approved and not archived and (access = 'open' or ($5 = 'account' and access = 'email'))))
   order by seq limit $4`,
)

interface Page {
  afterSeq: number
  limit: number
  /**
   * anyone: public artifacts. account: also those for listed accounts, whose access lists are yet to be checked.
   * owner: all.
   */
  audience: 'owner' | 'anyone' | 'account'
}

export async function listArtifacts(
  db: Db,
  tenantId: string,
  collectionId: string,
  { afterSeq, limit, audience }: Page,
): Promise<Artifact[]> {
  return (await db.query(listStatement, [tenantId, collectionId, afterSeq, limit, audience])).map(toArtifact)
}

const accessListsStatement = statement<{ id: string; access_list: Buffer | null }>(
  'artifacts-access-lists',
  'select id, access_list from artifacts where tenant_id = $1 and collection_id = $2 and id = any($3)',
)

export async function listAccessLists(
  db: Db,
  tenantId: string,
  collectionId: string,
  ids: string[],
): Promise<Pick<ListedArtifact, 'id' | 'accessList'>[]> {
  const rows = await db.query(accessListsStatement, [tenantId, collectionId, ids])
  return rows.map(({ id, access_list: accessList }) => ({ id, accessList }))
}

const findText = `select ${columns}, access_list from artifacts where tenant_id = $1 and collection_id = $2 and id = $3`
const findStatement = statement<ListedRow>('artifacts-find', findText)
const lockStatement = statement<ListedRow>('artifacts-lock', `${findText} for no key update`)

export async function findArtifact(
  db: Db,
  tenantId: string,
  collectionId: string,
  id: string,
): Promise<ListedArtifact | undefined> {
  const [row] = await db.query(findStatement, [tenantId, collectionId, id])
  return row && toListedArtifact(row)
}

export async function findArtifactForUpdate(
  tx: Tx,
  tenantId: string,
  collectionId: string,
  id: string,
): Promise<ListedArtifact | undefined> {
  const [row] = await tx.query(lockStatement, [tenantId, collectionId, id])
  return row && toListedArtifact(row)
}

const updateStatement = statement<never>(
  'artifacts-update',
  `update artifacts set approved = $4, published = $5, hero = $6, archived = $7, access = $8, access_list = $9, title = $10,
     alt = $11
   where tenant_id = $1 and collection_id = $2 and id = $3`,
)

export async function updateArtifact(tx: Tx, tenantId: string, collectionId: string, artifact: ListedArtifact): Promise<void> {
  const { id, approved, published, hero, archived, access, accessList, title, alt } = artifact
  const curation = [approved, published, hero, archived, access, accessList, title, alt]
  await tx.query(updateStatement, [tenantId, collectionId, id, ...curation])
}

const clearHeroStatement = statement<never>(
  'artifacts-clear-hero',
  'update artifacts set hero = false where tenant_id = $1 and collection_id = $2 and hero',
)

export async function clearArtifactHero(tx: Tx, tenantId: string, collectionId: string): Promise<void> {
  await tx.query(clearHeroStatement, [tenantId, collectionId])
}

const deleteStatement = statement<{ id: string }>(
  'artifacts-delete',
  'delete from artifacts where tenant_id = $1 and collection_id = $2 and id = $3 returning id',
)

/** Returns whether it existed. The caller queues blobDeletionsOfArtifact in the same transaction. */
export async function deleteArtifact(tx: Tx, tenantId: string, collectionId: string, id: string): Promise<boolean> {
  return (await tx.query(deleteStatement, [tenantId, collectionId, id])).length === 1
}

const byIdStatement = statement<LocatedRow>(
  'artifacts-by-id',
  `select tenant_id, collection_id, ${columns}, access_list from artifacts where id = any($1)`,
)

/** The artifacts with these ids, of any tenant: the caller knows only the ids. */
export async function listArtifactsById(db: Db, ids: string[]): Promise<LocatedArtifact[]> {
  return (await db.query(byIdStatement, [ids])).map(toLocatedArtifact)
}

const previewStatement = statement<Row & { part: keyof PublicPreview; collection_id: string }>(
  'artifacts-shown',
  `with wanted as (select * from unnest($1::text[], $2::text[]) as w (tenant_id, collection_id))
   select 'hero' as part, collection_id, ${columns} from artifacts
    where (tenant_id, collection_id) in (select * from wanted)
      and hero and published and approved and not archived and access = 'open' and status = 'ready'
   union all
   select 'card', wanted.collection_id, card.* from wanted cross join lateral (
     select ${columns} from artifacts a
      where a.tenant_id = wanted.tenant_id and a.collection_id = wanted.collection_id
        and kind = 'card' and published and approved and not archived and access = 'open' and status = 'ready'
      order by seq desc limit 1) card`,
)

/** The artifacts of a collection that its share page shows to everyone. */
export interface PublicPreview {
  hero?: Artifact
  /** The newest card. */
  card?: Artifact
}

/** By collection. A collection without a public hero or card has no entry. */
export async function listPublicPreviews(
  db: Db,
  collections: { tenantId: string; collectionId: string }[],
): Promise<Map<string, PublicPreview>> {
  const values = [collections.map(({ tenantId }) => tenantId), collections.map(({ collectionId }) => collectionId)]
  const rows = await db.query(previewStatement, values)
  const previews = new Map<string, PublicPreview>()
  for (const { part, collection_id: id, ...row } of rows) previews.set(id, { ...previews.get(id), [part]: toArtifact(row) })
  return previews
}

const chosenStatement = statement<Row>(
  'artifacts-chosen',
  `select ${columns} from artifacts
   where tenant_id = $1 and collection_id = $2 and (id = any($3) or ($4 and hero))
   order by array_position($3, id)`,
)

/** The artifacts with these ids, in that order, and the hero if requested. */
export async function listChosenArtifacts(
  db: Db,
  tenantId: string,
  collectionId: string,
  { ids, hero }: { ids: string[]; hero: boolean },
): Promise<Artifact[]> {
  return (await db.query(chosenStatement, [tenantId, collectionId, ids, hero])).map(toArtifact)
}
