import type { Database, Db } from '#db/database.ts'
import { countAnswersStatement, listSealedValues, resealStatements, type SealedValue } from './reseal-store.ts'
import { sealedColumns, type SealedRef, type SealedColumn } from './sealed-columns.ts'
import { findCheckValue } from './store.ts'
import type { Vault } from './vault.ts'

/** What is sealed under one master key. */
interface KeyNeeds {
  /** Hex. */
  id: string
  values: number
  /**
   * Stored answers of requests with an Idempotency-Key. Only their callers can open them, so they are not resealed;
   * they expire.
   */
  answers: number
  answersUntil: string | null
}

export interface ResealReport {
  /** How many values this run has resealed. */
  resealed: number
  /** The configured keys in their order, then other keys under which values are sealed. */
  keys: (KeyNeeds & { configured: boolean })[]
}

const batch = 500
/** The approximate length of a run. The next run continues. */
const runMs = 30_000

/**
 * Reseals values under the first master key, and reports what each other key is still needed for. A value that
 * changed meanwhile is skipped; one that cannot be opened stays unchanged. An interrupted run keeps its progress.
 * `db` must allow queries that read a whole table.
 */
export async function reseal(db: Database, vault: Vault): Promise<ResealReport> {
  return { resealed: await resealAll(db, vault), keys: await listNeeds(db, vault) }
}

/** Each run starts at the first row, so its time does not end it before it has resealed something. */
async function resealAll(db: Database, vault: Vault): Promise<number> {
  const endsAtMs = performance.now() + runMs
  const [current] = vault.keyIds
  let resealed = 0
  for (const column of sealedColumns) {
    // A value that cannot be opened is not read again.
    for await (const values of listSealedValues(db, column, { keyIds: vault.keyIds, current, limit: batch })) {
      resealed += await resealValues(db, vault, column, values)
      if (resealed > 0 && performance.now() >= endsAtMs) return resealed
    }
  }
  return resealed
}

async function resealValues(db: Database, vault: Vault, column: SealedColumn, values: SealedValue[]): Promise<number> {
  const fresh = values.flatMap((value) => resealValue(vault, column, value))
  const updated = await db.query(resealStatements(column).update, [
    fresh.map(({ at }) => at),
    fresh.map((one) => one.old),
    fresh.map((one) => one.fresh),
  ])
  return updated.length
}

function resealValue(vault: Vault, column: SealedColumn, { at, tenant, row, sealed }: SealedValue) {
  const ref: SealedRef = { ...column, tenant, row }
  try {
    return [{ at, old: sealed, fresh: vault.rewrap(sealed, ref) }]
  } catch {
    return []
  }
}

/** The ids, in hex, of the master keys under which something in the database is sealed. */
export interface KeyIds {
  /** The ids of the master keys that seal values. */
  master: string[]
  /** The id of the master key of the value that every start opens. Absent: that value is not written yet. */
  check?: string
  /** The ids of those that seal only stored answers to requests with an Idempotency-Key. The answers expire within a day. */
  answers: string[]
}

export async function listKeyIds(db: Db): Promise<KeyIds> {
  const ids = new Set<string>()
  for (const column of sealedColumns) for (const { id } of await db.query(resealStatements(column).count, [])) ids.add(id)
  const check = (await findCheckValue(db))?.toString('hex', 1, 5)
  const answers = (await db.query(countAnswersStatement, [])).map(({ id }) => id).filter((id) => !ids.has(id))
  return { master: [...ids].toSorted(), ...(check !== undefined && { check }), answers: answers.toSorted() }
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
