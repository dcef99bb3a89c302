import { required } from '@atrium/contract/required'
import { distributionLockKey } from '@atrium/traffic/shards'
import type { RoomHead } from './head.ts'

/** A fixed query, prepared under its name. */
export interface Query<Row> {
  name: string
  text: string
  values: unknown[]
  /**
   * For a select that calls a writing function. on worker: Citus sends the statement to a worker outside a
   * transaction, so the worker may commit it after the coordinator has cancelled it.
   */
  writes?: true | 'on worker'
  /** one: fails at once on a lock that is held; the caller retries. */
  tries?: 'one'
  /** The type of a row, for the type checker only. */
  readonly row?: Row
}

export interface Db {
  query<Row extends object>(query: Query<Row>): Promise<{ rows: Row[] }>
}

export interface WakingDb extends Db {
  /** Notifies the listeners of the channel, in all processes, of what was written before. See wake-ups.ts. */
  wake(channel: string, payload: string): void
}

interface HeadRow {
  room: string
  count: number
  etag: string
  bytes: string
  policy_seq: number
  policy_hash: string
  policy_line: string | null
  access_key: string | null
}

/** The heads of these rooms, in order; undefined for a room that does not exist. */
export async function listHeads(db: Db, rooms: string[]): Promise<(RoomHead | undefined)[]> {
  const { rows } = await db.query<HeadRow>({
    name: 'rooms-heads',
    text: `select r.room, r.count, r.etag, r.bytes, r.policy_seq, r.policy_hash, r.access_key, l.line as policy_line
           from rooms r left join room_lines l on l.room = r.room and l.seq = r.policy_seq and coalesce(r.access_key, '') = ''
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
    // A missing line means a damaged room, which the check of the policy's hash reports.
    policyLine: row.policy_line ?? '',
    accessKey: row.access_key ?? undefined,
  }
}

/** The hashes of the last lines of these rooms, by room. A room that does not exist has none. */
export async function listEnds(db: Db, rooms: string[]): Promise<Map<string, string>> {
  const { rows } = await db.query<{ room: string; etag: string }>({
    name: 'rooms-ends',
    text: 'select room, etag from rooms where room = any($1)',
    values: [rooms],
  })
  return new Map(rows.map(({ room, etag }) => [room, etag]))
}

/** The lines from `fromSeq` to `toSeq`, which is excluded. */
export async function listLines(db: Db, room: string, fromSeq: number, toSeq: number): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>({
    name: 'rooms-lines',
    text: 'select line from room_lines where room = $1 and seq >= $2 and seq < $3 order by seq',
    values: [room, fromSeq, toSeq],
  })
  return rows.map((row) => row.line)
}

/**
 * The same, but ends with the line that reaches `bytes`; at least `atLeast` lines. octet_length does not read text
 * that is stored outside the row.
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

/** The lines to append to a room, and the end that the room must have. */
export interface Growth {
  from: RoomHead
  to: RoomHead
  lines: NewLine[]
}

interface Repeated {
  dedupe: string
  seq: number
}

/**
 * moved: appended. stale: the room has grown or was removed meanwhile. locked: another transaction holds the room's
 * row, and nothing was done. Otherwise: these lines existed already, and nothing was appended.
 */
export type GrowthOutcome = 'moved' | 'stale' | 'locked' | Repeated[]

type AppendRow =
  | { room: string; outcome: 'moved' | 'locked' }
  | { room: string; outcome: 'repeated'; dedupe: string; seq: number }

/**
 * Appends to many rooms at once, to each all lines or none. A room that no longer ends where the lines begin is
 * skipped, so a chain never forks, however many processes write. `oneShard`: the rooms are spread over nodes, and
 * those of this call are in one shard; see append-shard-lines.sql, otherwise append-room-lines.sql. The caller then
 * wakes the polls.
 */
export async function appendLines<G extends Growth>(db: Db, growths: G[], oneShard = false): Promise<[G, GrowthOutcome][]> {
  const lines = growths.flatMap(({ from, lines: added }) => added.map((line) => ({ room: from.room, ...line })))
  const values = [
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
  ]
  const columns = 'room, outcome, dedupe, seq'
  const { rows } = await db.query<AppendRow>({
    writes: oneShard ? 'on worker' : true,
    tries: 'one',
    name: oneShard ? 'rooms-append-shard' : 'rooms-append',
    text: oneShard
      ? `select ${columns} from append_shard_lines($13, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
      : `select ${columns} from append_room_lines($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: oneShard ? [...values, growths[0]?.from.room] : values,
  })
  const plain = new Map<string, 'moved' | 'locked'>()
  const repeated = new Map<string, Repeated[]>()
  for (const row of rows) {
    const { room } = row
    if (row.outcome === 'repeated') repeated.set(room, [...(repeated.get(room) ?? []), { dedupe: row.dedupe, seq: row.seq }])
    else plain.set(room, row.outcome)
  }
  return growths.map((growth) => {
    const { room } = growth.from
    return [growth, repeated.get(room) ?? plain.get(room) ?? 'stale']
  })
}

/** Where the shards of rooms begin in the range of hashes; empty if rooms are in one place. Throws while they are moved. */
export async function listRoomShards(db: Db): Promise<number[]> {
  const [found] = (
    await db.query<{ found: string | null; free: number }>({
      name: 'rooms-has-shards',
      text: `select to_regclass('pg_catalog.pg_dist_shard')::text as found, pg_try_advisory_xact_lock_shared(${distributionLockKey})::int as free`,
      values: [],
    })
  ).rows
  if (!found?.found) return []
  if (found.free === 0) throw new Error('atrium distribute is moving tables of this database: start again when it has ended')
  const { rows } = await db.query<{ start: number }>({
    name: 'rooms-shards',
    text: `select shardminvalue::int as start from pg_dist_shard where logicalrelid = 'rooms'::regclass`,
    values: [],
  })
  return rows.map(({ start }) => start)
}

/** Every process that holds polls listens on this channel. The payload is the room. */
export const roomChannel = 'atrium_rooms'

/** limited: the callers have created as many rooms this hour as they may. */
export type InsertOutcome = 'made' | 'exists' | 'removed' | 'limited'

/**
 * Creates a room of one line, unless a room of this name exists or existed, or one of `callers` has created as many
 * this hour as it may.
 */
export async function insertRoom(
  db: Db,
  head: RoomHead,
  line: string,
  { callers, allowed }: { callers: string[]; allowed: number[] },
): Promise<InsertOutcome> {
  const { rows } = await db.query<{ outcome: InsertOutcome }>({
    name: 'rooms-make',
    writes: true,
    text: 'select make_room_with_key($1, $2, $3, $4, $5, $6, $7) as outcome',
    values: [head.room, head.etag, head.bytes, line, head.accessKey ?? null, callers, allowed],
  })
  return required(rows[0], 'make_room_with_key answers one row').outcome
}

/** Removes a room and its lines. The name stays reserved: see free-room.sql. The caller then wakes the polls. */
export async function deleteRoom(db: Db, room: string): Promise<void> {
  await db.query({ name: 'rooms-remove', text: 'select remove_room($1)', values: [room], writes: true })
}
