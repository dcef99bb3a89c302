import type { Database } from '#db/database.ts'
import { countAnswersStatement, resealStatements, type SealedValue } from './reseal-store.ts'
import { sealedColumns, type SealedRef, type SealedColumn } from './sealed-columns.ts'
import type { Vault } from './vault.ts'

/** What is sealed under one master key. */
export interface KeyNeeds {
  /** Hex. */
  id: string
  values: number
  /**
   * The kept answers of requests with an Idempotency-Key: only their callers can open them, so they stay until they
   * expire.
   */
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
 * Seals anew, under the first master key, what is sealed under another one, and says what each key is still needed
 * for. A value changes only if nobody has changed it meanwhile; one that does not open stays as it is. A run that
 * breaks off has done what it has done. `db` must let a query read a whole table.
 */
export async function reseal(db: Database, vault: Vault): Promise<ResealReport> {
  const endsAtMs = performance.now() + runMs
  let resealed = 0
  for (const column of sealedColumns) resealed += await resealColumn(db, vault, column, endsAtMs)
  return { resealed, keys: await listNeeds(db, vault) }
}

async function resealColumn(db: Database, vault: Vault, column: SealedColumn, endsAtMs: number): Promise<number> {
  const { list, update } = resealStatements(column)
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

function resealValue(vault: Vault, column: SealedColumn, { at, tenant, row, sealed }: SealedValue) {
  const ref: SealedRef = { ...column, tenant, row }
  try {
    return [{ at, old: sealed, fresh: vault.rewrap(sealed, ref) }]
  } catch {
    return []
  }
}

async function listNeeds(db: Database, vault: Vault): Promise<ResealReport['keys']> {
  const configured = vault.keyIds.map((id) => id.toString('hex'))
  const needs = new Map<string, KeyNeeds>()
  for (const id of configured) needs.set(id, { id, values: 0, answers: 0, answersUntil: null })
  const needsOf = (id: string) => {
    const known = needs.get(id) ?? { id, values: 0, answers: 0, answersUntil: null }
    needs.set(id, known)
    return known
  }
  for (const column of sealedColumns) {
    for (const { id, count } of await db.query(resealStatements(column).count, [])) needsOf(id).values += count
  }
  for (const { id, count, until } of await db.query(countAnswersStatement, []))
    Object.assign(needsOf(id), { answers: count, answersUntil: until })
  return [...needs.values()].map((one) => ({ ...one, configured: configured.includes(one.id) }))
}
