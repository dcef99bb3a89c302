import { blockRanges } from '#db/block-ranges.ts'
import type { Db } from '#db/database.ts'
import { statement } from '#db/database.ts'
import { sealedColumns, type SealedColumn } from '#crypto/vault/sealed-columns.ts'

const pageSize = 500

export interface Room {
  room: string
  count: number
  etag: string
  isClientSealed: boolean
}

const roomsStatement = statement<Room>(
  'verify-rooms',
  `select room, count, etag, access_key is not null as "isClientSealed" from rooms where room > $1 order by room limit ${pageSize}`,
)

export async function* listRooms(db: Db): AsyncGenerator<Room> {
  for (let after = ''; ;) {
    const page = await db.query(roomsStatement, [after])
    yield* page
    const last = page.at(-1)
    if (!last) return
    after = last.room
  }
}

const linesStatement = statement<{ line: string }>(
  'verify-lines',
  `select line from room_lines where room = $1 and seq >= $2 order by seq limit ${pageSize}`,
)

/** Some lines of a room from this number on, in their order. */
export async function listLines(db: Db, room: string, fromSeq: number): Promise<string[]> {
  return (await db.query(linesStatement, [room, fromSeq])).map(({ line }) => line)
}

export interface SealedRow {
  column: SealedColumn
  tenant: string
  row: string
  sealed: Buffer
}

/** Every sealed value of the database. */
export async function* listSealedValues(db: Db): AsyncGenerator<SealedRow> {
  for (const sealedColumn of sealedColumns) {
    const { table, column, tenant, row } = sealedColumn
    const page = statement<{ at: string } & Omit<SealedRow, 'column'>>(
      `verify-sealed-${table}-${column}`,
      `select ctid::text as at, ${tenant} as tenant, ${row} as "row", ${column} as sealed from ${table}
        where ctid > $1::tid and ctid < $2::tid and ${column} is not null order by ctid limit ${pageSize}`,
    )
    for await (const { after, before } of blockRanges(db, table)) {
      for (let from = after; ;) {
        const found = await db.query(page, [from, before])
        for (const { tenant, row, sealed } of found) yield { column: sealedColumn, tenant, row, sealed }
        const last = found.at(-1)
        if (!last || found.length < pageSize) break
        from = last.at
      }
    }
  }
}

interface StoredArtifact {
  seq: number
  tenantId: string
  collectionId: string
  id: string
}

const artifactsStatement = statement<StoredArtifact>(
  'verify-artifacts',
  `select seq, tenant_id as "tenantId", collection_id as "collectionId", id from artifacts
    where (tenant_id, collection_id, seq) > ($1, $2, $3) and status = 'ready' and source <> 'url'
    order by tenant_id, collection_id, seq limit ${pageSize}`,
)

/** The artifacts whose bytes are in the blob store. */
export async function* listStoredArtifacts(db: Db): AsyncGenerator<StoredArtifact> {
  for (let after: Omit<StoredArtifact, 'id'> = { tenantId: '', collectionId: '', seq: 0 }; ;) {
    const page = await db.query(artifactsStatement, [after.tenantId, after.collectionId, after.seq])
    yield* page
    const last = page.at(-1)
    if (!last) return
    after = last
  }
}
