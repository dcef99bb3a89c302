import { statement, type Db } from '#db/database.ts'

/** A signed checkpoint, without the signatures of witnesses. */
export interface StoredCheckpoint {
  size: number
  signed: string
}

const findStatement = statement<StoredCheckpoint>('log-checkpoint', 'select size, signed from log_checkpoints where origin = $1')

export async function findCheckpoint(db: Db, origin: string): Promise<StoredCheckpoint | undefined> {
  return (await db.query(findStatement, [origin]))[0]
}

const saveStatement = statement<never>(
  'log-checkpoint-save',
  // A process that signed an older tree must not replace the newer checkpoint of another one.
  `insert into log_checkpoints (origin, size, signed) values ($1, $2, $3)
   on conflict (origin) do update set size = excluded.size, signed = excluded.signed, published_at = now()
   where log_checkpoints.size <= excluded.size`,
)

export async function saveCheckpoint(db: Db, origin: string, { size, signed }: StoredCheckpoint): Promise<void> {
  await db.query(saveStatement, [origin, size, signed])
}

/** The last cosignature of a witness. */
export interface StoredCosignature {
  /** The vkey of the witness. */
  witness: string
  size: number
  /** A signature line, which ends in a newline. */
  line: string
}

const cosignaturesStatement = statement<StoredCosignature>(
  'log-cosignatures',
  'select witness, size, line from log_cosignatures where origin = $1 order by witness',
)

export async function listCosignatures(db: Db, origin: string): Promise<StoredCosignature[]> {
  return db.query(cosignaturesStatement, [origin])
}

const saveCosignatureStatement = statement<never>(
  'log-cosignature-save',
  `insert into log_cosignatures (origin, witness, size, line) values ($1, $2, $3, $4)
   on conflict (origin, witness) do update set size = excluded.size, line = excluded.line, cosigned_at = now()
   where log_cosignatures.size <= excluded.size`,
)

export async function saveCosignature(db: Db, origin: string, { witness, size, line }: StoredCosignature): Promise<void> {
  await db.query(saveCosignatureStatement, [origin, witness, size, line])
}

const refuseStatement = statement<never>(
  'log-refuse',
  `update log_tree set refusal = $1, waiting = null,
     refused_origin = case when refusal is null or refused_origin = $2 then $2 end`,
)
const waitStatement = statement<never>('log-wait', 'update log_tree set waiting = $1')
const hearStatement = statement<never>('log-hear', 'update log_tree set heard_at = now(), waiting = null')

/** Stops the signing of this log for good. If another log was refused before, no log is signed any more. */
export async function recordRefusal(db: Db, origin: string, refusal: string): Promise<void> {
  await db.query(refuseStatement, [refusal, origin])
}

/** Why nothing is signed for now; null: nothing is waited for. */
export async function recordWaiting(db: Db, reason: string | null): Promise<void> {
  await db.query(waitStatement, [reason])
}

export async function recordHearing(db: Db): Promise<void> {
  await db.query(hearStatement, [])
}
