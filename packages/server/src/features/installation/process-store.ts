import { statement, type Db } from '#db/database.ts'
import { leaseOver } from '#db/lease-over.ts'
import type { TimePosition } from '#http/cursor.ts'

export interface RunningProcess {
  id: string
  role: 'api' | 'worker'
  host: string
  pid: number
  version: string
  node: string
  memoryBytes: number
  startedAt: string
  beatAt: string
  isSilent: boolean
}

interface Row {
  id: string
  role: RunningProcess['role']
  host: string
  pid: number
  version: string
  node: string
  memory_bytes: number
  started_at: string
  beat_at: string
  is_silent: boolean
}

function toProcess({ memory_bytes, started_at, beat_at, is_silent, ...same }: Row): RunningProcess {
  return { ...same, memoryBytes: memory_bytes, startedAt: started_at, beatAt: beat_at, isSilent: is_silent }
}

/** SQL: whether a process has not beaten for 30 seconds. */
const isSilent = leaseOver("beat_at + interval '30 seconds'", 30)

const saveStatement = statement<never>(
  'processes-save',
  // The row exists unless this is the first beat, or the database was restored or unreachable for a day.
  `insert into processes as p (id, role, host, pid, version, node, memory_bytes, started_at, slowest_revocation_ms, sealing_key)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
   on conflict on constraint processes_pkey do update set memory_bytes = excluded.memory_bytes, beat_at = now(),
     slowest_revocation_ms = excluded.slowest_revocation_ms`,
)

interface Beat extends Omit<RunningProcess, 'beatAt' | 'isSilent'> {
  /** The slowest revocation that it measured in the last hour; undefined: none. */
  slowestRevocationMs: number | undefined
  /** The id, in hex, of the master key under which it seals. */
  sealingKey: string
}

/** Records that the process runs now. */
export async function saveBeat(db: Db, beat: Beat): Promise<void> {
  const { id, role, host, pid, version, node, memoryBytes, startedAt, slowestRevocationMs = null, sealingKey } = beat
  await db.query(saveStatement, [id, role, host, pid, version, node, memoryBytes, startedAt, slowestRevocationMs, sealingKey])
}

const sealingStatement = statement<{ key: string; count: number }>(
  'processes-sealing',
  `select sealing_key as key, count(*) as count from processes
   where sealing_key is not null and not ${isSilent} group by 1`,
)

/** How many running processes seal under each master key, by its id in hex. */
export async function countSealing(db: Db): Promise<Map<string, number>> {
  return new Map((await db.query(sealingStatement, [])).map(({ key, count }) => [key, count]))
}

const revocationStatement = statement<{ worst_ms: number | null }>(
  'processes-slowest-revocation',
  `select max(slowest_revocation_ms) as worst_ms from processes where not ${isSilent}`,
)

/** The slowest revocation that any running process measured in the last hour; undefined: none was measured. */
export async function findSlowestRevocation(db: Db): Promise<number | undefined> {
  const [row] = await db.query(revocationStatement, [])
  return row?.worst_ms ?? undefined
}

const deleteStatement = statement<never>('processes-delete', 'delete from processes where id = $1')

export async function deleteProcess(db: Db, id: string): Promise<void> {
  await db.query(deleteStatement, [id])
}

const deleteSilentStatement = statement<never>(
  'processes-delete-silent',
  `delete from processes where beat_at < now() - interval '1 day' or beat_at > now() + interval '1 day'`,
)

/** Deletes the rows of processes that were killed, also of those whose time a clock that was set back has not reached. */
export async function deleteSilentProcesses(db: Db): Promise<void> {
  await db.query(deleteSilentStatement, [])
}

const listStatement = statement<Row>(
  'processes-list',
  `select id, role, host, pid, version, node, memory_bytes, started_at, beat_at, ${isSilent} as is_silent
   from processes where (started_at, id::text) < ($1::timestamptz, $2) order by started_at desc, id::text desc limit $3`,
)

/** Newest first. */
export async function listProcesses(db: Db, after: TimePosition | undefined, limit: number): Promise<RunningProcess[]> {
  return (await db.query(listStatement, [after?.createdAt ?? 'infinity', after?.id ?? '', limit])).map(toProcess)
}
