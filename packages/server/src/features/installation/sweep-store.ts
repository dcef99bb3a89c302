import { statement, type Db } from '#db/database.ts'

const insertStatement = statement<never>(
  'sweeps-insert',
  // The interval of a row of the previous release is added, and that of a changed sweep replaced.
  `insert into sweep_leases as s (name, interval_ms) select * from unnest($1::text[], $2::int[])
   on conflict on constraint sweep_leases_pkey do update set interval_ms = excluded.interval_ms
     where s.interval_ms is distinct from excluded.interval_ms`,
)

export async function insertSweeps(db: Db, sweeps: readonly { name: string; intervalMs: number }[]): Promise<void> {
  await db.query(insertStatement, [sweeps.map(({ name }) => name), sweeps.map(({ intervalMs }) => intervalMs)])
}

const listStatement = statement<{
  name: string
  interval_ms: number
  running: boolean
  ran_at: string | null
  failed_at: string | null
  late: boolean
}>(
  'sweeps-list',
  // A sweep without an interval is one that this release does not have.
  `select name, interval_ms, coalesce(until > now(), false) as running, ran_at, failed_at,
     coalesce(ran_at < now() - make_interval(secs => 60 + 3 * interval_ms / 1000.0), false) as late
   from sweep_leases where interval_ms is not null order by name`,
)

/** Every sweep that one process at a time runs, with its last runs. */
export async function listSweeps(db: Db) {
  const rows = await db.query(listStatement, [])
  return rows.map(({ interval_ms: intervalMs, ran_at: ranAt, failed_at: failedAt, ...same }) => ({
    ...same,
    intervalMs,
    ranAt,
    failedAt,
  }))
}

interface ClaimRow {
  claimed: boolean
  ran_at: string | null
}

const claimStatement = statement<ClaimRow>(
  'sweeps-claim',
  // Times in the future come from a clock that was set back, and are ignored. clock_timestamp() is used because a
  // statement that waited for the row has an older now() than the process that wrote it, and would treat the row's
  // times as future ones. The extra second allows for small corrections of the clock; nine tenths, because the
  // timers of several processes differ.
  `with claimed as (
     update sweep_leases set holder = $2, until = clock_timestamp() + make_interval(secs => $3 / 1000.0)
     where name = $1
       and (until is null or until <= clock_timestamp() or until > clock_timestamp() + make_interval(secs => $3 / 1000.0 + 1))
       and (ran_at is null or ran_at <= clock_timestamp() - make_interval(secs => $4 * 0.9 / 1000.0) or ran_at > clock_timestamp() + interval '1 second')
     returning name
   )
   select exists (select from claimed) as claimed, l.ran_at from sweep_leases l where l.name = $1`,
)

interface Claim {
  name: string
  holder: string
  leaseMs: number
  intervalMs: number
}

/** Takes the lease of a sweep that is due and that no other process runs. In any case returns when it last ran. */
export async function claimSweep(db: Db, { name, holder, leaseMs, intervalMs }: Claim) {
  const [row] = await db.query(claimStatement, [name, holder, leaseMs, intervalMs])
  return { claimed: row?.claimed ?? false, ranAt: row?.ran_at ?? undefined }
}

const renewStatement = statement<{ name: string }>(
  'sweeps-renew',
  // Does not renew a lease that was released meanwhile: no process could run the sweep until it expires.
  `update sweep_leases set until = clock_timestamp() + make_interval(secs => $3 / 1000.0)
   where name = $1 and holder = $2 and until is not null returning name`,
)

/** Whether this process still holds the lease. */
export async function renewSweep(db: Db, { name, holder, leaseMs }: Omit<Claim, 'intervalMs'>): Promise<boolean> {
  return (await db.query(renewStatement, [name, holder, leaseMs])).length === 1
}

const releaseStatement = statement<{ ran_at: string | null }>(
  'sweeps-release',
  // The time is returned also if the lease is lost: without one, the sweep would count as one that never ran.
  `with released as (
     update sweep_leases set until = null, ran_at = case when $3 then clock_timestamp() else ran_at end,
       failed_at = case when $3 then failed_at else clock_timestamp() end
     where name = $1 and holder = $2 returning name, ran_at
   )
   select case when r.name is null then l.ran_at else r.ran_at end as ran_at
   from sweep_leases l left join released r on r.name = l.name where l.name = $1`,
)

/** Releases the lease. `done`: the sweep ran to its end; otherwise it failed. Returns when it last ran to its end. */
export async function releaseSweep(db: Db, name: string, holder: string, done: boolean): Promise<string | undefined> {
  const [row] = await db.query(releaseStatement, [name, holder, done])
  return row?.ran_at ?? undefined
}
