import type { Pool, PoolClient } from 'pg'
import { schemaQueries, unsupportedQuery } from './schema-queries.ts'

/**
 * The schema public as SQL that makes it again in an empty database; the same schema always gives the same text. Written from the
 * catalogs, since the embedded PostgreSQL brings no pg_dump. Comments and the migrations' own bookkeeping are left out.
 */
export async function dumpSchema(pool: Pool): Promise<string> {
  const client = await pool.connect()
  try {
    // One snapshot for all queries; the search path decides which names come out qualified.
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

async function refuseUnsupported(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ what: string }>(unsupportedQuery)
  if (rows.length === 0) return
  throw new Error(`dumpSchema does not know how to write: ${rows.map(({ what }) => what).join(', ')}`)
}

async function listDdl(client: PoolClient, query: string): Promise<string[]> {
  const { rows } = await client.query<{ ddl: string }>(query)
  return rows.map(({ ddl }) => ddl.trimEnd())
}
