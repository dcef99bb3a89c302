import { statement, type Db } from '#db/database.ts'
import { tenantTables, type TenantTable, type TenantTableName } from './tenant-tables.ts'

const columnsStatement = statement<{ name: string }>(
  'tenant-export-columns',
  `select attname::text as name from pg_attribute
   where attrelid = format('public.%I', $1::text)::regclass and attnum > 0 and not attisdropped order by attnum`,
)

/** The types of the columns that order a table; all others are text. */
const types: Record<string, string> = {
  seq: 'bigint',
  sequence: 'bigint',
  part: 'bigint',
  day: 'date',
  month: 'date',
  version: 'bytea',
  created_at: 'timestamptz',
  last_at: 'timestamptz',
}

/** Some rows are large: 200 of the largest items have 13 MiB, and a page is held in memory. */
const pageRows = 200

interface Row {
  /** The row as JSON from the database, so that numbers are not rounded and texts are not converted. */
  text: string
  id: string | null
  access_list: Buffer | null
  place: string[]
}

/** The tables of an export, in its order. */
export const exportedTables = Object.entries<TenantTable>(tenantTables).flatMap(([table, { export: exported }]) =>
  exported ? [table as TenantTableName] : [],
)

/** The rows of the tenant, page by page. No connection or snapshot is held between two pages. */
export async function* readTenantRows(db: Db, table: TenantTableName, tenantId: string): AsyncGenerator<Row[]> {
  const { export: exported } = tenantTables[table] as TenantTable
  if (!exported) throw new Error(`${table} is not exported`)
  const order = exported.order.split(', ')
  const all = (await db.query(columnsStatement, [table])).map(({ name }) => name)
  const hasList = all.includes('access_list')
  const columns = all.filter((name) => name !== 'tenant_id' && name !== 'access_list' && !exported.except?.includes(name))
  const page = statement<Row>(
    `tenant-export-${table}`,
    `select row_to_json(x)::text as text, ${all.includes('id') ? 't.id' : 'null as id'},
       ${hasList ? 't.access_list' : 'null as access_list'}, array[${order.map((name) => `t.${name}::text`).join(', ')}] as place
     from (
       select * from ${table}
       where tenant_id = $1 and ($2::text[] is null or (${order.join(', ')}) > (${order
         .map((name, i) => `($2::text[])[${i + 1}]::${types[name] ?? 'text'}`)
         .join(', ')}))
       order by ${order.join(', ')} limit ${pageRows}
     ) t
     cross join lateral (select ${columns.map((name) => `t.${name}`).join(', ')}) x
     order by ${order.map((name) => `t.${name}`).join(', ')}`,
  )
  for (let after: string[] | null = null; ;) {
    const rows: Row[] = await db.query(page, [tenantId, after])
    if (rows.length > 0) yield rows
    if (rows.length < pageRows) return
    after = rows.at(-1)?.place ?? null
  }
}
