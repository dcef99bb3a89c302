import { statement, type Db } from '#db/database.ts'

const versionsStatement = statement<{ postgresql: string; citus: string | null }>(
  'database-versions',
  `select current_setting('server_version') as postgresql,
     (select extversion from pg_extension where extname = 'citus') as citus`,
)

/** The version of PostgreSQL, and of Citus where the database has it. */
export async function findDatabaseVersions(db: Db): Promise<{ postgresql: string; citus: string | null }> {
  const [row] = await db.query(versionsStatement, [])
  if (!row) throw new Error('the database did not answer its version')
  return row
}
