import { statement, type Db } from '#db/database.ts'

const insertStatement = statement<never>(
  'sweeps-insert',
  'insert into sweep_leases (name) select * from unnest($1::text[]) on conflict do nothing',
)

export async function insertSweeps(db: Db, names: string[]): Promise<void> {
  await db.query(insertStatement, [names])
}

interface ClaimRow {
  claimed: boolean
  ran_at: string | null
}

const claimStatement = statement<ClaimRow>(
  'sweeps-claim',
  // Times in the future come from a clock that was set back and do not count. clock_timestamp(), because a statement that
  // waited for the row has an older now() than the process that wrote it, and would take its times for future ones.
  // A second more, because a clock is also corrected by small steps. Nine tenths, because the timers of several processes differ.
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
  everyMs: number
}

/** Takes the lease of a sweep that is due and that nobody else is doing; says when it was last done in any case. */
export async function claimSweep(db: Db, { name, holder, leaseMs, everyMs }: Claim) {
  const [row] = await db.query(claimStatement, [name, holder, leaseMs, everyMs])
  return { claimed: row?.claimed ?? false, ranAt: row?.ran_at ?? undefined }
}

const renewStatement = statement<{ name: string }>(
  'sweeps-renew',
  `update sweep_leases set until = clock_timestamp() + make_interval(secs => $3 / 1000.0) where name = $1 and holder = $2 returning name`,
)

/** Whether it is still ours. */
export async function renewSweep(db: Db, { name, holder, leaseMs }: Omit<Claim, 'everyMs'>): Promise<boolean> {
  return (await db.query(renewStatement, [name, holder, leaseMs])).length === 1
}

const releaseStatement = statement<{ ran_at: string | null }>(
  'sweeps-release',
  `update sweep_leases set until = null, ran_at = case when $3 then clock_timestamp() else ran_at end where name = $1 and holder = $2 returning ran_at`,
)

/** Gives the lease back; `done`: it was done to the end. Says when it was last done. */
export async function releaseSweep(db: Db, name: string, holder: string, done: boolean): Promise<string | undefined> {
  const [row] = await db.query(releaseStatement, [name, holder, done])
  return row?.ran_at ?? undefined
}
