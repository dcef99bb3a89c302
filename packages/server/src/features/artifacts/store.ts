import { statement, type Db, type Tx } from '#db/database.ts'
import type { Artifact, ListedArtifact } from './artifact.ts'

type Row = Omit<Artifact, 'createdAt'> & { created_at: string }
type ListedRow = Row & { access_list: Buffer | null }

const columns = `id, seq, kind, source, url, status, stage, approved, published, hero, archived, access, title, alt, width, height, mime,
  bytes, sha256,  provider, model, seed, error, created_at`

function toArtifact({ created_at: createdAt, ...same }: Row): Artifact {
  return { ...same, createdAt }
}

function toListed({ access_list: accessList, ...row }: ListedRow): ListedArtifact {
  return { ...toArtifact(row), accessList }
}

const insertStatement = statement<never>(
  'artifacts-insert-hosted',
  `insert into artifacts (tenant_id, collection_id, id, kind, source, url, status, stage, title, alt)
   values ($1, $2, $3, $4, 'url', $5, 'ready', 'done', $6, $7)`,
)

export type HostedArtifact = Pick<Artifact, 'id' | 'kind' | 'url' | 'title' | 'alt'>

/** An artifact whose bytes are hosted already: ready at once. */
export async function insertHostedArtifact(
  tx: Tx,
  tenantId: string,
  collectionId: string,
  artifact: HostedArtifact,
): Promise<void> {
  const { id, kind, url, title, alt } = artifact
  await tx.query(insertStatement, [tenantId, collectionId, id, kind, url, title, alt])
}

const insertMadeStatement = statement<never>(
  'artifacts-insert-made',
  `insert into artifacts (tenant_id, collection_id, id, kind, source, status, stage, title, error)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
)

export type MadeArtifact = Pick<Artifact, 'id' | 'kind' | 'source' | 'status' | 'stage' | 'title' | 'error'>

/** An artifact whose bytes are still to come. */
export async function insertMadeArtifact(tx: Tx, tenantId: string, collectionId: string, artifact: MadeArtifact): Promise<void> {
  const { id, kind, source, status, stage, title, error } = artifact
  const values = [tenantId, collectionId, id, kind, source, status, stage, title, error && JSON.stringify(error)]
  await tx.query(insertMadeStatement, values)
}

const stageStatement = statement<never>(
  'artifacts-stage',
  `update artifacts set stage = $4 where tenant_id = $1 and collection_id = $2 and id = $3 and status = 'painting'`,
)

/** Shows how far it has come. */
export async function updateStage(
  db: Db,
  { tenantId, collectionId, artifactId }: { tenantId: string; collectionId: string; artifactId: string },
  stage: Artifact['stage'],
): Promise<void> {
  await db.query(stageStatement, [tenantId, collectionId, artifactId, stage])
}

const madeStatement = statement<never>(
  'artifacts-made',
  `update artifacts
   set status = 'ready', stage = 'done', url = $4, mime = $5, width = $6, height = $7, bytes = $8, sha256 = $9, alt = coalesce(alt, $10),
     provider = $11, model = $12, seed = $13
   where tenant_id = $1 and collection_id = $2 and id = $3`,
)

/** What painted it. */
export interface Painted {
  provider: string
  model: string
  seed: number
}

/** Its bytes are stored, and these are they. */
export async function updateMade(
  tx: Tx,
  tenantId: string,
  collectionId: string,
  made: Pick<Artifact, 'id' | 'url' | 'mime' | 'width' | 'height' | 'bytes' | 'sha256' | 'alt'> & { painted?: Painted | null },
): Promise<void> {
  const { id, url, mime, width, height, bytes, sha256, alt, painted } = made
  const values = [tenantId, collectionId, id, url, mime, width, height, bytes, sha256, alt]
  await tx.query(madeStatement, [...values, painted?.provider ?? null, painted?.model ?? null, painted?.seed ?? null])
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
  /** What is listed: all; what anyone may see; or that and what is for accounts on a list, whose lists are still to be read. */
  of: 'owner' | 'anyone' | 'account'
}

export async function listArtifacts(
  db: Db,
  tenantId: string,
  collectionId: string,
  { afterSeq, limit, of }: Page,
): Promise<Artifact[]> {
  return (await db.query(listStatement, [tenantId, collectionId, afterSeq, limit, of])).map(toArtifact)
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
  return row && toListed(row)
}

export async function findArtifactForUpdate(
  tx: Tx,
  tenantId: string,
  collectionId: string,
  id: string,
): Promise<ListedArtifact | undefined> {
  const [row] = await tx.query(lockStatement, [tenantId, collectionId, id])
  return row && toListed(row)
}

const updateStatement = statement<never>(
  'artifacts-update',
  `update artifacts set approved = $4, published = $5, hero = $6, archived = $7, access = $8, access_list = $9
   where tenant_id = $1 and collection_id = $2 and id = $3`,
)

export async function updateArtifact(tx: Tx, tenantId: string, collectionId: string, artifact: ListedArtifact): Promise<void> {
  const { id, approved, published, hero, archived, access, accessList } = artifact
  await tx.query(updateStatement, [tenantId, collectionId, id, approved, published, hero, archived, access, accessList])
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

/** Whether it was there. What is stored of it goes by blobDeletionsOfArtifact, in the same transaction. */
export async function deleteArtifact(tx: Tx, tenantId: string, collectionId: string, id: string): Promise<boolean> {
  return (await tx.query(deleteStatement, [tenantId, collectionId, id])).length === 1
}

interface PlacedRow extends ListedRow {
  tenant_id: string
  collection_id: string
}

export interface PlacedArtifact extends ListedArtifact {
  tenantId: string
  collectionId: string
}

const byIdStatement = statement<PlacedRow>(
  'artifacts-by-id',
  `select tenant_id, collection_id, ${columns}, access_list from artifacts where id = any($1)`,
)

/** The artifacts with these ids, of whatever tenant: whoever asks knows no more than the id. */
export async function listArtifactsById(db: Db, ids: string[]): Promise<PlacedArtifact[]> {
  const rows = await db.query(byIdStatement, [ids])
  return rows.map(({ tenant_id: tenantId, collection_id: collectionId, ...row }) => ({
    tenantId,
    collectionId,
    ...toListed(row),
  }))
}

const knownStatement = statement<{ id: string }>(
  'artifacts-known',
  `select id from artifacts where (tenant_id, collection_id, id) in (select * from unnest($1::text[], $2::text[], $3::text[]))`,
)

/** Those of them that there are. */
export async function listKnownArtifacts(
  db: Db,
  places: { tenantId: string; collectionId: string; artifactId: string }[],
): Promise<Set<string>> {
  const rows = await db.query(knownStatement, [
    places.map(({ tenantId }) => tenantId),
    places.map(({ collectionId }) => collectionId),
    places.map(({ artifactId }) => artifactId),
  ])
  return new Set(rows.map(({ id }) => id))
}

const shownStatement = statement<Row & { part: keyof Shown; collection_id: string }>(
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

/** What everyone may see of a collection's artifacts on its share page. */
export interface Shown {
  hero?: Artifact
  /** The newest card. */
  card?: Artifact
}

/** By collection; those that show nothing are left out. */
export async function listShown(db: Db, collections: { tenantId: string; id: string }[]): Promise<Map<string, Shown>> {
  const rows = await db.query(shownStatement, [collections.map(({ tenantId }) => tenantId), collections.map(({ id }) => id)])
  const shown = new Map<string, Shown>()
  for (const { part, collection_id: id, ...row } of rows) shown.set(id, { ...shown.get(id), [part]: toArtifact(row) })
  return shown
}

const chosenStatement = statement<Row>(
  'artifacts-chosen',
  `select ${columns} from artifacts
   where tenant_id = $1 and collection_id = $2 and (id = any($3) or ($4 and hero))
   order by array_position($3, id)`,
)

/** The artifacts with these ids, in that order; and the hero, where it is asked for. */
export async function listChosenArtifacts(
  db: Db,
  tenantId: string,
  collectionId: string,
  { ids, hero }: { ids: string[]; hero: boolean },
): Promise<Artifact[]> {
  return (await db.query(chosenStatement, [tenantId, collectionId, ids, hero])).map(toArtifact)
}
