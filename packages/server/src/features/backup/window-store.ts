import { statement, type Db } from '#db/database.ts'

/** A restore that no operator has confirmed. */
export interface UnconfirmedRestore {
  /** The window is from this time to the restore. */
  snapshotAt: string
  restoredAt: string
}

const findStatement = statement<UnconfirmedRestore>(
  'restores-find-unconfirmed',
  `select snapshot_at as "snapshotAt", restored_at as "restoredAt" from restores where confirmed_at is null`,
)

export async function findUnconfirmedRestore(db: Db): Promise<UnconfirmedRestore | undefined> {
  return (await db.query(findStatement, []))[0]
}

const confirmStatement = statement<UnconfirmedRestore>(
  'restores-confirm',
  `update restores set confirmed_at = now() where confirmed_at is null
   returning snapshot_at as "snapshotAt", restored_at as "restoredAt"`,
)

/** Returns undefined if there is nothing to confirm. */
export async function confirmRestore(db: Db): Promise<UnconfirmedRestore | undefined> {
  return (await db.query(confirmStatement, []))[0]
}

const restoredAtStatement = statement<{ restored_at: string }>('restores-restored-at', 'select restored_at from restores')

/** When this database was restored from a backup, confirmed or not. */
export async function findRestoredAt(db: Db): Promise<string | undefined> {
  return (await db.query(restoredAtStatement, []))[0]?.restored_at
}
