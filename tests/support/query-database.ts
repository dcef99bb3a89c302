import { Client } from 'pg'

/** Runs one statement directly on the database, to read what is stored. */
export async function queryDatabase<Row = Record<string, unknown>>(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql, values)).rows as Row[]
  } finally {
    await client.end()
  }
}

/** The contents of every table, as text in which a value appears unchanged, and binary values also as hex. */
export async function dumpTables(url: string): Promise<string> {
  const tables = await queryDatabase<{ name: string }>(
    url,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const parts: string[] = []
  for (const { name } of tables) {
    for (const row of await queryDatabase(url, `select * from ${name}`)) {
      for (const [column, value] of Object.entries(row)) parts.push(`${name}.${column}: ${textOf(value)}`)
    }
  }
  return parts.join('\n')
}

function textOf(value: unknown): string {
  if (Buffer.isBuffer(value)) return `${value.toString('latin1')} ${value.toString('hex')}`
  return typeof value === 'string' ? value : JSON.stringify(value)
}
