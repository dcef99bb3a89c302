import { readIndexStatements } from './concurrent-indexes.ts'
import type { MigrationFile } from './migration-files.ts'

/** Earlier migrations were applied before these rules existed. */
const firstNumber = '0038'

interface Rule {
  /**
   * All patterns match a statement in lower case, without comments and literals. A single expression with two `.*`
   * would be slow.
   */
  matches: RegExp[]
  but?: RegExp
  /** What to do instead. */
  advice: string
  /** contract: allowed in a migration with the line "-- contract: NNNN". size: allowed on a new or small table. */
  kind: 'contract' | 'size'
}

const contract = 'the previous release still uses it: wait a release, and say so with "-- contract: NNNN"'

const rules: Rule[] = [
  { kind: 'contract', matches: [/^drop (?:table|view|function|type|sequence|index)\b/], advice: contract },
  {
    kind: 'contract',
    matches: [/^alter table\b/, /\bdrop (?:column|constraint|default)\b/],
    // A check that is replaced in the same statement allows more than before; whoever narrows one breaks older code.
    but: /^alter table \w+ drop constraint (\w+), add constraint \1 check\b/,
    advice: contract,
  },
  // No statement names an index, except for a constraint's, which "alter table … rename constraint" renames.
  { kind: 'contract', matches: [/^alter \w+ /, /\brename\b/], but: /^alter index\b/, advice: contract },
  { kind: 'contract', matches: [/^alter table\b/, /\balter (?:column )?\w+ (?:set data )?type\b/], advice: contract },
  { kind: 'contract', matches: [/^alter table\b/, /\bset not null\b/], advice: contract },
  {
    kind: 'contract',
    matches: [/^alter table\b/, /\badd column\b/, /\bnot null\b/],
    but: /\bdefault\b/,
    advice: 'the previous release does not write the column: give it a default, or let it be null',
  },
  {
    kind: 'size',
    matches: [/^create (?:unique )?index\b/],
    advice:
      'it blocks writes while it is built: use "create index concurrently" in a migration of its own with "-- concurrently"',
  },
  {
    kind: 'size',
    matches: [/^alter table\b/, /\badd constraint\b/, /\b(?:check|foreign key|references)\b/],
    but: /\bnot valid\b/,
    advice: 'it reads the whole table under a lock: add it "not valid", and validate it in the next migration',
  },
  {
    kind: 'size',
    matches: [/^alter table\b/, /\badd constraint\b/, /\b(?:unique|primary key)\b/],
    but: /\busing index\b/,
    advice: 'it builds an index under a lock: build the index concurrently first, then add the constraint "using index"',
  },
  {
    kind: 'size',
    matches: [/^alter table\b/, /\badd column\b/, /\b(?:generated|references|random|gen_random_uuid|clock_timestamp)\b/],
    advice: 'it rewrites or reads the whole table under a lock: add a plain column, and fill it in batches',
  },
  {
    kind: 'size',
    matches: [/^(?:update|delete from|truncate)\b/],
    advice:
      'it locks all rows that it changes until the migration ends: fill or remove them in batches, from a sweep of the release',
  },
  {
    kind: 'size',
    matches: [/^(?:lock|cluster|vacuum|reindex)\b/],
    advice: 'it locks the table for long: an operator does this, and no migration',
  },
]

/**
 * Returns what a migration must not do while the previous release serves: a line for each statement, with what to do
 * instead. "-- small: TABLE, TABLE" in the file names tables that have few rows in every installation.
 */
export function findUnsafeStatements({ name, sql, concurrently, contractOf }: MigrationFile): string[] {
  if (name.slice(0, 4) < firstNumber) return []
  if (concurrently) return readIndexStatements(name, sql).length === 0 ? [`${name}: it has no statement`] : []
  const statements = splitStatements(sql)
  const tables = new Set([
    ...readSmallTables(sql),
    ...statements.flatMap((text) => /^create table (?:if not exists )?(\w+)/.exec(text)?.[1] ?? []),
    // A name that another table takes over in the same transaction is never missing.
    ...statements.flatMap((text) => /^alter table \w+ rename to (\w+)/.exec(text)?.[1] ?? []),
  ])
  return statements.flatMap((text) => {
    const broken = rules.find(({ kind, matches, but }) => {
      if (kind === 'contract' && contractOf !== undefined) return false
      if (!matches.every((each) => each.test(text)) || but?.test(text)) return false
      const table = tableOf(text)
      return table === undefined || !tables.has(table)
    })
    return broken ? [`${name}: "${text.slice(0, 80)}": ${broken.advice}`] : []
  })
}

function readSmallTables(sql: string): string[] {
  const header = sql.split('\n').find((line) => line.startsWith('-- small: '))
  return header?.slice('-- small: '.length).split(/, ?/) ?? []
}

function tableOf(statement: string): string | undefined {
  return (
    /^(?:alter table|drop table|update|delete from|truncate|lock table|lock)(?: only| if exists)* (\w+)/.exec(statement)?.[1] ??
    /^create (?:unique )?index (?:if not exists )?\w+ on (\w+)/.exec(statement)?.[1]
  )
}

/** In lower case with single spaces, without comments, literals and function bodies. */
function splitStatements(sql: string): string[] {
  return sql
    .replaceAll(/--[^\n]*/g, ' ')
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .replaceAll(/'[^']*'/g, "''")
    .toLowerCase()
    .split(';')
    .map((part) => part.split(/\s+/).filter(Boolean).join(' '))
    .filter((part) => part !== '')
}
