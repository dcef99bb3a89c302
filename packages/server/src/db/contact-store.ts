import { statement, type Db } from './database.ts'

const contactStatement = statement<{ last_at: string; set_back: number }>(
  'database-contact',
  // The sweeper calls this every 5 seconds. A gap of more than three intervals means that the database was
  // unreachable. If `since` is in the future, the clock was set back after it was written. Without a reset,
  // no agent would be late until the clock reaches it.
  // set_back ignores differences of up to 16 seconds, as the check for a gap does: the sweeper may be late, and clocks are
  // corrected by small steps. Because of the row lock, only one of several processes gets a difference.
  `with before as (select last_at from database_contact for update)
   insert into database_contact as c (since, last_at) select now(), now() from (select count(*) from before) locked
   on conflict on constraint database_contact_pkey do update
   set since = case when c.last_at < now() - interval '16 seconds' or c.since > now() then now() else c.since end, last_at = now()
   returning c.last_at, coalesce((select extract(epoch from b.last_at - now()) from before b where b.last_at > now() + interval '16 seconds'), 0)::float8
     as set_back`,
)

/** A contact with the database, by the clock of the database. */
interface Contact {
  /** RFC 3339. */
  at: string
  /** By how much the clock was set back since the last contact; 0: it was not. */
  setBackSeconds: number
}

/**
 * Records that the database can be reached. After an outage, agents have their full time again to report that they
 * joined.
 */
export async function noteContact(db: Db): Promise<Contact> {
  const [row] = await db.query(contactStatement, [])
  if (!row) throw new Error('the contact with the database was not recorded')
  return { at: row.last_at, setBackSeconds: row.set_back }
}
