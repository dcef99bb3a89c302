import { statement, type Db, type Tx } from '../../db/database.ts'
import type { Artifact } from './artifact.ts'

type Row = Omit<Artifact, 'createdAt'> & { created_at: string }

const columns = `id, seq, kind, source, url, status, stage, approved, published, hero, archived, title, alt, width, height, mime, bytes, sha256,
  error, created_at`

function toArtifact({ created_at: createdAt, ...same }: Row): Artifact {
  return { ...same, createdAt }
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

const listStatement = statement<Row>(
  'artifacts-list',
  `select ${columns} from artifacts
   where tenant_id = $1 and collection_id = $2 and seq > $3 and ($5 or (published and approved and not archived))
   order by seq limit $4`,
)

interface Page {
  afterSeq: number
  limit: number
  /** Also those that only the owner may see. */
  all: boolean
}

export async function listArtifacts(
  db: Db,
  tenantId: string,
  collectionId: string,
  { afterSeq, limit, all }: Page,
): Promise<Artifact[]> {
  return (await db.query(listStatement, [tenantId, collectionId, afterSeq, limit, all])).map(toArtifact)
}

const findText = `select ${columns} from artifacts where tenant_id = $1 and collection_id = $2 and id = $3`
const findStatement = statement<Row>('artifacts-find', findText)
const lockStatement = statement<Row>('artifacts-lock', `${findText} for no key update`)

export async function findArtifact(db: Db, tenantId: string, collectionId: string, id: string): Promise<Artifact | undefined> {
  const [row] = await db.query(findStatement, [tenantId, collectionId, id])
  return row && toArtifact(row)
}

export async function findArtifactForUpdate(
  tx: Tx,
  tenantId: string,
  collectionId: string,
  id: string,
): Promise<Artifact | undefined> {
  const [row] = await tx.query(lockStatement, [tenantId, collectionId, id])
  return row && toArtifact(row)
}

const updateStatement = statement<never>(
  'artifacts-update',
  `update artifacts set approved = $4, published = $5, hero = $6, archived = $7
   where tenant_id = $1 and collection_id = $2 and id = $3`,
)

export async function updateArtifact(tx: Tx, tenantId: string, collectionId: string, artifact: Artifact): Promise<void> {
  const { id, approved, published, hero, archived } = artifact
  await tx.query(updateStatement, [tenantId, collectionId, id, approved, published, hero, archived])
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

export async function deleteArtifact(db: Db, tenantId: string, collectionId: string, id: string): Promise<boolean> {
  return (await db.query(deleteStatement, [tenantId, collectionId, id])).length === 1
}

const heroStatement = statement<Row & { collection_id: string }>(
  'artifacts-heroes',
  `select collection_id, ${columns} from artifacts
   where (tenant_id, collection_id) in (select * from unnest($1::text[], $2::text[]))
     and hero and published and approved and not archived and status = 'ready'`,
)

/** The public hero of each of these collections that has one, by collection. */
export async function listHeroes(db: Db, collections: { tenantId: string; id: string }[]): Promise<Map<string, Artifact>> {
  const rows = await db.query(heroStatement, [collections.map(({ tenantId }) => tenantId), collections.map(({ id }) => id)])
  return new Map(rows.map(({ collection_id: collectionId, ...row }) => [collectionId, toArtifact(row)]))
}
