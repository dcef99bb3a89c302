import type { Borrowed, Connections } from '@atrium/traffic/connections'
import { schemaQueries, unsupportedQuery } from './schema-queries.ts'

/**
 * Dumps the schema public as SQL that recreates it in an empty database. The same schema always gives the same text.
 * It is generated from the catalogs, because the embedded PostgreSQL has no pg_dump. Comments and the tables of the
 * migrator are omitted.
 */
export async function dumpSchema(pool: Pick<Connections, 'connect'>): Promise<string> {
  const client = await pool.connect()
  try {
    // One snapshot for all queries. The search path decides which names are qualified.
    await client.query('begin isolation level repeatable read, read only')
    await client.query('set local search_path to public')
    await refuseUnsupported(client)
    const parts: string[] = []
    for (const query of schemaQueries) parts.push(...(await listDdl(client, query)))
    await client.query('commit')
    return ['-- A function may name a table that comes after it.\nset check_function_bodies = off;', ...parts].join('\n\n') + '\n'
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

async function refuseUnsupported(client: Borrowed): Promise<void> {
  const { rows } = await client.query<{ what: string }>(unsupportedQuery)
  if (rows.length === 0) return
  throw new Error(`dumpSchema does not support: ${rows.map(({ what }) => what).join(', ')}`)
}

async function listDdl(client: Borrowed, query: string): Promise<string[]> {
  const { rows } = await client.query<{ ddl: string }>(query)
  return rows.map(({ ddl }) => ddl.trimEnd())
}
