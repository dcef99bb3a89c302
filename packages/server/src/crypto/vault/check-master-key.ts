import type { Db } from '#db/database.ts'
import { StartError } from '#errors/start-error.ts'
import { sealedColumns, type SealedRef } from './sealed-columns.ts'
import { findCheckValue, findSealedValue, insertCheckValue } from './store.ts'
import type { Vault } from './vault.ts'

const place: SealedRef = { table: 'master_key_check', column: 'sealed', tenant: 'platform', row: 'check' }

/** The database has sealed values that no configured master key opens. */
export class WrongMasterKeyError extends StartError {}

/**
 * Whether the database has values that are sealed under any master key. `db` must allow queries that read a whole
 * table.
 */
export async function holdsSealedValues(db: Db): Promise<boolean> {
  if (await findCheckValue(db)) return true
  for (const column of sealedColumns) if (await findSealedValue(db, column, [])) return true
  return false
}

/**
 * Throws if the configured master keys open nothing in this database. If there is no check value yet, the sealed
 * values decide, and the check value is written. `db` must allow queries that read a whole table.
 */
export async function checkMasterKey(db: Db, vault: Vault): Promise<void> {
  if (!(await findCheckValue(db))) {
    await assertOpensAny(db, vault)
    await insertCheckValue(db, vault.seal(Buffer.from('atrium'), place))
  }
  // Read again after the write, because another process may have written it first.
  const check = await findCheckValue(db)
  if (!check || !opens(vault, check, place)) throw wrongKey(vault, check)
}

/** One value that opens is enough: others may be sealed under a key that was lost before this check existed. */
async function assertOpensAny(db: Db, vault: Vault): Promise<void> {
  let closed: Buffer | undefined
  for (const column of sealedColumns) {
    const found = await findSealedValue(db, column, vault.keyIds)
    if (!found) continue
    const { tenant, row, sealed } = found
    if (opens(vault, sealed, { ...column, tenant, row })) return
    closed = sealed
  }
  if (closed) throw wrongKey(vault, closed)
}

function opens(vault: Vault, sealed: Buffer, where: SealedRef): boolean {
  try {
    vault.open(sealed, where)
    return true
  } catch {
    return false
  }
}

/** Keys are named by their ids, which are hashes, as in the output of `atrium reseal`. */
function wrongKey(vault: Vault, sealed: Buffer | undefined): WrongMasterKeyError {
  const needed = sealed?.toString('hex', 1, 5) ?? 'unknown'
  const given = vault.keyIds.map((id) => id.toString('hex')).join(', ')
  return new WrongMasterKeyError(
    `ATRIUM_MASTER_KEY: this database is sealed under the master key ${needed}, but the configured key is ${given}. Configure the key of this database; ` +
      'to change the key, put the new one before it with a comma between them (docs/master-key.md)',
  )
}
