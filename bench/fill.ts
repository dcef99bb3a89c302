import type { Pool } from 'pg'

const chunk = 100_000

/** Inserts items into an empty collection by SQL, as if they had been added one after the other. */
export async function fillCollection(pool: Pool, collectionId: string, size: number, signal: AbortSignal): Promise<void> {
  const content = JSON.stringify({ text: 'What the sea says at night, and what the lamp answers it. '.repeat(2), colour: 'teal' })
  const client = await pool.connect()
  try {
    // The inserted rows satisfy the foreign key. Checking it a million times would be most of the work.
    await client.query('set session_replication_role = replica')
    for (let from = 1; from <= size; from += chunk) {
      signal.throwIfAborted()
      await client.query(
        `insert into items (tenant_id, collection_id, id, seq, type, content, author)
         select c.tenant_id, c.id, 'itm_' || left(md5(c.id || n), 22), n, 'message', $2, 'Ada'
         from collections c, generate_series($3::int, $4::int) n
         where c.id = $1
         order by n`,
        [collectionId, content, from, Math.min(size, from + chunk - 1)],
      )
    }
    await client.query('update collections set item_count = $2, last_seq = $2 where id = $1', [collectionId, size])
  } finally {
    client.release(true)
  }
}

/**
 * Creates the tables of the floors: collections like Atrium's, and the smallest possible table of items. Returns the
 * ids of the collections.
 */
export async function makeFloorTables(pool: Pool, count: number, metadata: object): Promise<string[]> {
  await pool.query(`
    create schema if not exists bench;
    create table if not exists bench.collections (
      id text primary key,
      metadata jsonb not null,
      state text not null default 'open',
      contributor_policy text not null default 'open',
      item_count bigint not null default 0,
      created_at timestamptz not null default now()
    );
    create table if not exists bench.items (
      id bigint generated always as identity primary key,
      collection_id text not null,
      type text not null,
      content jsonb not null,
      author text,
      created_at timestamptz not null default now()
    )`)
  await pool.query(
    `insert into bench.collections (id, metadata)
     select 'col_' || left(md5(n::text), 22), $2 from generate_series(1, $1::int) n on conflict do nothing`,
    [count, metadata],
  )
  const { rows } = await pool.query<{ id: string }>('select id from bench.collections')
  return rows.map(({ id }) => id)
}

/** Vacuums now, so that autovacuum does not start during a measurement. */
export async function settle(pool: Pool): Promise<void> {
  await pool.query('vacuum analyze')
  await pool.query('checkpoint')
}
