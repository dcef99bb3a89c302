import { queryDatabase } from './query-database.ts'

/**
 * No process gets the lease of a sweep. Its statements would count as those of an operation that is held or killed.
 */
export async function stopSweeps(databaseUrl: string): Promise<void> {
  await queryDatabase(databaseUrl, "create function leave_it() returns trigger language plpgsql as 'begin return null; end'")
  await queryDatabase(
    databaseUrl,
    'create trigger stop_sweeps before update on sweep_leases for each row execute function leave_it()',
  )
}
