/** A pool, not a connection inside a transaction: a failed attempt would abort the transaction. */
interface Database {
  query(sql: string): Promise<unknown>
}

const tries = 5

/**
 * Resolves as soon as `count` statements wait for locks in this database. The loop runs
 * inside PostgreSQL, every two milliseconds, because an attempt of the server waits only 50 ms for the lock and then
 * pauses without a connection. A slow process that polled from outside could miss every attempt.
 */
export async function untilBlocked(database: Database, count = 1): Promise<void> {
  for (let n = 1; ; n++)
    try {
      return await look(database, count)
    } catch (error) {
      if (n === tries) throw error
    }
}

/** For less time than a statement may take. */
async function look(database: Database, count: number): Promise<void> {
  // The statistics of a transaction's first look are kept, unless they are discarded.
  await database.query(`do $$
    begin
      loop
        perform pg_stat_clear_snapshot();
        if (select count(*) >= ${count} from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock') then return; end if;
        if clock_timestamp() > statement_timestamp() + interval '4 s' then raise exception 'nobody waits for a lock'; end if;
        perform pg_sleep(0.002);
      end loop;
    end $$`)
}
