import type { RoomHead } from './head.ts'

/** A fixed query, prepared under its name. */
export interface Query<Row> {
  name: string
  text: string
  values: unknown[]
  /** For a select that calls a function which writes. */
  writes?: boolean
  /** one: a lock that is held fails it at once, and its caller tries again. */
  tries?: 'one'
  /** Only for the type checker: what a row looks like. */
  readonly row?: Row
}

export interface Db {
  query<Row extends object>(query: Query<Row>): Promise<{ rows: Row[] }>
}

interface HeadRow {
  room: string
  count: number
  etag: string
  bytes: string
  policy_seq: number
  policy_hash: string
  policy_line: string | null
}

/** The heads of these rooms, in order; undefined where there is no such room. */
export async function listHeads(db: Db, rooms: string[]): Promise<(RoomHead | undefined)[]> {
  const { rows } = await db.query<HeadRow>({
    name: 'rooms-heads',
    text: `select r.room, r.count, r.etag, r.bytes, r.policy_seq, r.policy_hash, l.line as policy_line
           from rooms r left join room_lines l on l.room = r.room and l.seq = r.policy_seq
           where r.room = any($1)`,
    values: [[...new Set(rooms)]],
  })
  const heads = new Map(rows.map((row) => [row.room, toHead(row)]))
  return rooms.map((room) => heads.get(room))
}

function toHead(row: HeadRow): RoomHead {
  return {
    room: row.room,
    count: row.count,
    etag: row.etag,
    bytes: Number(row.bytes),
    policySeq: row.policy_seq,
    policyHash: row.policy_hash,
    // A missing line is a damaged room; whoever checks the policy's hash says so.
    policyLine: row.policy_line ?? '',
  }
}

/** The lines from `fromSeq` up to, not including, `toSeq`. */
export async function listLines(db: Db, room: string, fromSeq: number, toSeq: number): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>({
    name: 'rooms-lines',
    text: 'select line from room_lines where room = $1 and seq >= $2 and seq < $3 order by seq',
    values: [room, fromSeq, toSeq],
  })
  return rows.map((row) => row.line)
}

/**
 * The same up to the line with which they have `bytes`: at least `atLeast`. octet_length of a text that is stored outside the row does not read it.
 */
export async function listLinesWithin(
  db: Db,
  room: string,
  { fromSeq, toSeq, bytes, atLeast }: { fromSeq: number; toSeq: number; bytes: number; atLeast: number },
): Promise<{ seq: number; line: string }[]> {
  const { rows } = await db.query<{ seq: number; line: string }>({
    name: 'rooms-lines-within',
    text: `select seq, line from (
             select seq, line, sum(octet_length(line)) over (order by seq) - octet_length(line) as bytes_before
             from room_lines where room = $1 and seq >= $2 and seq < $3
           ) l
           where bytes_before < $4 or seq < $2 + $5 order by seq`,
    values: [room, fromSeq, toSeq, bytes, atLeast],
  })
  return rows
}

export interface NewLine {
  seq: number
  line: string
  dedupe: string | null
}

/** What a room grows by, and from where: it is appended only if the room still ends there. */
export interface Growth {
  from: RoomHead
  to: RoomHead
  lines: NewLine[]
}

export interface Repeated {
  dedupe: string
  seq: number
}

/**
 * moved: appended. stale: the room had grown, or gone, meanwhile. locked: somebody holds the room's row, and nothing was done. Otherwise:
 * these were there already, and nothing was appended.
 */
export type GrowthOutcome = 'moved' | 'stale' | 'locked' | Repeated[]

type AppendRow =
  | { room: string; outcome: 'moved' | 'locked' }
  | { room: string; outcome: 'repeated'; dedupe: string; seq: number }

/**
 * Appends to many rooms at once, to each all or nothing. A room that no longer ends where the growth begins is left alone: so a chain
 * never forks, however many processes write. Those who wait for news are notified in the same transaction. See
 * try-append-lines.sql.
 */
export async function appendLines(db: Db, growths: Growth[]): Promise<GrowthOutcome[]> {
  const lines = growths.flatMap(({ from, lines: added }) => added.map((line) => ({ room: from.room, ...line })))
  const { rows } = await db.query<AppendRow>({
    name: 'rooms-try-append',
    writes: true,
    tries: 'one',
    text: 'select room, outcome, dedupe, seq from try_append_lines($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
    values: [
      growths.map(({ from }) => from.room),
      growths.map(({ from }) => from.count),
      growths.map(({ from }) => from.etag),
      growths.map(({ to }) => to.count),
      growths.map(({ to }) => to.etag),
      growths.map(({ to }) => to.bytes),
      growths.map(({ to }) => to.policySeq),
      growths.map(({ to }) => to.policyHash),
      lines.map(({ room }) => room),
      lines.map(({ seq }) => seq),
      lines.map(({ line }) => line),
      lines.map(({ dedupe }) => dedupe),
    ],
  })
  const plain = new Map<string, 'moved' | 'locked'>()
  const repeated = new Map<string, Repeated[]>()
  for (const row of rows) {
    const { room } = row
    if (row.outcome === 'repeated') repeated.set(room, [...(repeated.get(room) ?? []), { dedupe: row.dedupe, seq: row.seq }])
    else plain.set(room, row.outcome)
  }
  return growths.map(({ from: { room } }) => repeated.get(room) ?? plain.get(room) ?? 'stale')
}

/** Every process that holds polls listens here; the payload is the room. */
export const roomChannel = 'atrium_rooms'

/** limited: as many were made this hour as the callers may. */
export type InsertOutcome = 'made' | 'exists' | 'removed' | 'limited'

/** Makes a room of one line, unless there is one of this name, or was, or one of `callers` made as many this hour as it is allowed. */
export async function insertRoom(
  db: Db,
  head: RoomHead,
  { callers, allowed }: { callers: string[]; allowed: number[] },
): Promise<InsertOutcome> {
  const { rows } = await db.query<{ outcome: InsertOutcome }>({
    name: 'rooms-make',
    writes: true,
    text: 'select make_room($1, $2, $3, $4, $5, $6) as outcome',
    values: [head.room, head.etag, head.bytes, head.policyLine, callers, allowed],
  })
  return rows[0]!.outcome
}

/** Removes a room and its lines. The table keeps its name from being used again: see keep-removed-name.sql. */
export async function deleteRoom(db: Db, room: string): Promise<void> {
  await db.query({
    name: 'rooms-delete',
    text: `with gone as (delete from rooms where room = $1 returning room)
           select pg_notify('${roomChannel}', room)::text from gone`,
    values: [room],
  })
}
