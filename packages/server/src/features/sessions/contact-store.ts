import { statement, type Db } from '#db/database.ts'

const setBackStatement = statement<{ seconds: number }>(
  'database-set-back',
  // The tolerance is that of a gap: the sweeper may be late, and clocks are corrected by small steps.
  `select extract(epoch from last_at - now())::float8 as seconds from database_contact where last_at > now() + interval '16 seconds'`,
)

/** By how many seconds the clock of the database was set back since the last contact; 0: by none. */
export async function findSetBack(db: Db): Promise<number> {
  return (await db.query(setBackStatement, []))[0]?.seconds ?? 0
}

const contactStatement = statement<never>(
  'database-contact',
  // The sweeper calls this every 5 seconds. A gap of more than three intervals means that the database was
  // unreachable. If `since` is in the future, the clock was set back after it was written. Without a reset,
  // no agent would be late until the clock reaches it.
  `insert into database_contact as c (since, last_at) values (now(), now())
   on conflict on constraint database_contact_pkey do update
   set since = case when c.last_at < now() - interval '16 seconds' or c.since > now() then now() else c.since end, last_at = now()`,
)

/**
 * Records that the database can be reached. After an outage, agents have their full time again to report that they
 * joined.
 */
export async function noteContact(db: Db): Promise<void> {
  await db.query(contactStatement, [])
}
