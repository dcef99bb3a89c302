import { statement, type Database } from '#db/database.ts'
import { sealedColumns, type SealedRef, type SealedColumn } from './sealed-columns.ts'
import type { Vault } from './vault.ts'

/** What is sealed under one master key. */
export interface KeyNeeds {
  /** Hex. */
  id: string
  values: number
  /** The kept answers of requests with an Idempotency-Key: only their callers can open them, so they stay until they expire. */
  answers: number
  answersUntil: string | null
}

export interface ResealReport {
  /** How many values this run has sealed anew. */
  resealed: number
  /** The configured keys, in their order, and then others under which something is sealed. */
  keys: (KeyNeeds & { configured: boolean })[]
}

const batch = 500
/** A run ends after about that long: the next one goes on. */
const runMs = 30_000

/**
 * Seals anew, under the first master key, what is sealed under another one, and says what each key is still needed for. A value changes
 * only if nobody has changed it meanwhile; one that does not open stays as it is. A run that breaks off has done what it has done.
 * `db` must let a query read a whole table.
 */
export async function reseal(db: Database, vault: Vault): Promise<ResealReport> {
  const endsAtMs = performance.now() + runMs
  let resealed = 0
  for (const column of sealedColumns) resealed += await resealColumn(db, vault, column, endsAtMs)
  return { resealed, keys: await listNeeds(db, vault) }
}

async function resealColumn(db: Database, vault: Vault, column: SealedColumn, endsAtMs: number): Promise<number> {
  const { list, update } = statementsOf(column)
  const [current] = vault.keyIds
  let resealed = 0
  // By where the rows lie: each part of the table is read once, and what does not open is not met again.
  for (let after = '(0,0)'; performance.now() < endsAtMs;) {
    const values = await db.query(list, [vault.keyIds, current, after, batch])
    const fresh = values.flatMap((value) => resealValue(vault, column, value))
    const updated = await db.query(update, [
      fresh.map(({ at }) => at),
      fresh.map((one) => one.old),
      fresh.map((one) => one.fresh),
    ])
    resealed += updated.length
    const last = values.at(-1)
    if (!last || values.length < batch) break
    after = last.at
  }
  return resealed
}

interface SealedValue {
  /** Where PostgreSQL keeps the row. */
  at: string
  tenant: string
  row: string
  sealed: Buffer
}

function resealValue(vault: Vault, { table, column }: SealedColumn, { at, tenant, row, sealed }: SealedValue) {
  const place = { table, column, tenant, row } as SealedRef
  try {
    return [{ at, old: sealed, fresh: vault.rewrap(sealed, place) }]
  } catch {
    return []
  }
}

async function listNeeds(db: Database, vault: Vault): Promise<ResealReport['keys']> {
  const configured = vault.keyIds.map((id) => id.toString('hex'))
  const needs = new Map(configured.map((id) => [id, { id, values: 0, answers: 0, answersUntil: null as string | null }]))
  const needsOf = (id: string) => {
    const known = needs.get(id) ?? { id, values: 0, answers: 0, answersUntil: null }
    needs.set(id, known)
    return known
  }
  for (const column of sealedColumns) {
    for (const { id, count } of await db.query(statementsOf(column).count, [])) needsOf(id).values += count
  }
  for (const { id, count, until } of await db.query(countAnswers, []))
    Object.assign(needsOf(id), { answers: count, answersUntil: until })
  return [...needs.values()].map((one) => ({ ...one, configured: configured.includes(one.id) }))
}

// Byte 1 is the form's version, 2 to 5 the master key's id.
const versionOf = (column: string) => `substring(${column} from 1 for 1)`
const keyIdOf = (column: string) => `substring(${column} from 2 for 4)`

function statementsOf({ table, column, tenant, row }: SealedColumn) {
  return {
    list: statement<SealedValue>(
      `reseal-list-${table}-${column}`,
      `select ctid::text as at, ${tenant} as tenant, ${row} as "row", ${column} as sealed from ${table}
        where ctid > $3::tid and ${keyIdOf(column)} = any($1::bytea[])
          and (${keyIdOf(column)} <> $2 or ${versionOf(column)} = '\\x01')
        order by ctid limit $4`,
    ),
    // ctid finds the row, and the old value that it is still that one: no two sealed values are equal.
    update: statement<{ done: true }>(
      `reseal-update-${table}-${column}`,
      `update ${table} t set ${column} = u.fresh
         from unnest($1::text[], $2::bytea[], $3::bytea[]) as u (at, old, fresh)
        where t.ctid = u.at::tid and t.${column} = u.old
       returning true as done`,
    ),
    count: statement<{ id: string; count: number }>(
      `reseal-count-${table}-${column}`,
      `select encode(${keyIdOf(column)}, 'hex') as id, count(*) as count from ${table} where ${column} is not null group by 1`,
    ),
  }
}

const countAnswers = statement<{ id: string; count: number; until: string | null }>(
  'reseal-count-answers',
  `select encode(${keyIdOf('answer')}, 'hex') as id, count(*) as count, max(expires_at) as until from idempotency_keys
    where answer is not null and expires_at > now() group by 1`,
)
