import { randomUUID } from 'node:crypto'
import { statement, type Db } from '#db/database.ts'
import { leaseOver } from '#db/lease-over.ts'

const holdSeconds = 300
const renewMs = 60_000
const isOver = leaseOver('held_until', holdSeconds)
/** SQL: the holds of backups that run. */
export const currentHolds = `select from blob_deletion_holds where not ${isOver}`

/** Keeps all blobs until it is released. */
export interface DeletionHold {
  /** Throws if the hold has expired at any time since it began, because a blob may have been deleted then. */
  release(): Promise<void>
}

const insertStatement = statement<never>(
  'blob-deletion-holds-insert',
  `insert into blob_deletion_holds (id, held_until) values ($1, now() + make_interval(secs => ${holdSeconds}))`,
)
const renewStatement = statement<{ id: string }>(
  'blob-deletion-holds-renew',
  `update blob_deletion_holds set held_until = now() + make_interval(secs => ${holdSeconds})
    where id = $1 and not ${isOver} returning id`,
)
const removeStatement = statement<{ id: string }>(
  'blob-deletion-holds-remove',
  `delete from blob_deletion_holds where id = $1 or ${isOver} returning id`,
)
const heldStatement = statement<{ held: boolean }>('blob-deletion-holds-exist', `select exists (${currentHolds}) as held`)

/**
 * From now on no process deletes a blob that a row named at this moment or later. A deletion in progress is of a
 * blob whose row is gone already.
 */
export async function holdBlobDeletions(db: Db): Promise<DeletionHold> {
  const id = randomUUID()
  await db.query(insertStatement, [id])
  let lost = false
  const renew = async () => {
    lost ||= (await db.query(renewStatement, [id])).length === 0
  }
  // A failed renewal is retried before the hold expires.
  const timer = setInterval(() => void renew().catch(() => undefined), renewMs)
  return {
    release: async () => {
      clearInterval(timer)
      await renew()
      await db.query(removeStatement, [id])
      if (lost) {
        const why = 'the database was unreachable for too long, or its clock was set back'
        throw new Error(`${why}: stored files may have been deleted meanwhile`)
      }
    },
  }
}

export async function areDeletionsHeld(db: Db): Promise<boolean> {
  return (await db.query(heldStatement, []))[0]?.held ?? false
}
