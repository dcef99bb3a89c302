import type { Db } from '../rooms/store.ts'

export interface WrittenBytes {
  /** A keyed hash of the address or network. */
  caller: string
  bytes: number
}

/**
 * Adds the bytes of callers to their day, and `added` to the total. Returns what each has written this day, and the
 * total.
 */
export async function countBytes(
  db: Db,
  written: WrittenBytes[],
  added: number,
): Promise<{ used: Map<string, number>; total: number }> {
  const { rows } = await db.query<{ caller: string; used: string }>({
    name: 'space-count-bytes',
    text: 'select caller, used from count_space_bytes($1, $2, $3)',
    values: [written.map(({ caller }) => caller), written.map(({ bytes }) => bytes), added],
    writes: true,
  })
  const used = new Map(rows.map((row) => [row.caller, Number(row.used)]))
  const total = used.get('') ?? 0
  used.delete('')
  return { used, total }
}

/** See sweep-space.sql. undefined: another process is sweeping. */
export async function sweep(db: Db, { unusedDays, batch }: { unusedDays: number; batch: number }): Promise<number | undefined> {
  const { rows } = await db.query<{ left: number | null }>({
    name: 'space-sweep',
    text: 'select sweep_space($1, $2) as left',
    values: [unusedDays, batch],
    writes: true,
  })
  return rows[0]?.left ?? undefined
}

/** The counts of a killed process are lost, so the total is recomputed from the rooms from time to time. */
export async function measureTotal(db: Db): Promise<void> {
  await db.query({
    name: 'space-measure-total',
    text: 'update space_total set bytes = (select coalesce(sum(bytes), 0) from rooms)',
    values: [],
  })
}
