import { type Db, type Tx, statement } from '#db/database.ts'
import { leaseOver } from '#db/lease-over.ts'
import type { AccountRef } from '#features/credits/ledger/movement.ts'
import type { Painted } from '../store.ts'

export interface PaintInput {
  prompt: string
  width: number
  height: number
  seed: number
  /** As requested; absent: the first provider with a key, else local. */
  provider?: string
  model?: string
}

interface ProduceInput {
  title?: string
  /** Ids, in the requested order. */
  items?: string[]
  artifacts?: string[]
  template?: string
}

interface JobKey {
  tenantId: string
  collectionId: string
  artifactId: string
}

interface JobBase extends JobKey {
  /** Held on the payer's account; 0: nothing. */
  priceCredits: number
  payer: AccountRef | null
  /** The job used one of the month's free paints, which is returned if the job fails. */
  fromAllowance: boolean
  /** How often the job was claimed. */
  attempts: number
  /** When it has to be done, by the monotonic clock of this process. */
  endsAtMs: number
  createdAt: string
  /** What an earlier attempt has generated, without the bytes. See keepGenerated. */
  kept: Omit<Generated, 'bytes'> | null
}

/** The generation of one artifact. */
export type Job = JobBase & ({ kind: 'paint'; input: PaintInput } | { kind: 'card' | 'clip'; input: ProduceInput })

export type ProduceJob = Extract<Job, { kind: 'card' | 'clip' }>

/** The bytes that a job generated. */
export interface Generated {
  bytes: Buffer
  mime: string
  width: number
  height: number
  alt: string | null
  painted: Painted | null
}

/** Why an artifact could not be generated. The owner sees code and message. */
export class GenerationError extends Error {
  override readonly name = 'GenerationError'
  readonly code: string
  /** Whether another attempt may succeed. */
  readonly transient: boolean

  constructor(code: string, message: string, { transient = false } = {}) {
    super(message)
    this.code = code
    this.transient = transient
  }
}

/** Notified when a job is added. */
export const jobChannel = 'atrium_artifact_jobs'
const leaseSeconds = 30
/** The longest pause before another attempt. */
export const maxPauseSeconds = 45

/** The input has the shape of its kind, because insertJob wrote both from one Job. */
type Row = RowBase & ({ work: 'paint'; input: PaintInput } | { work: 'card' | 'clip'; input: ProduceInput })

interface RowBase {
  tenant_id: string
  collection_id: string
  artifact_id: string
  price: number
  payer_tenant_id: string | null
  payer_id: string | null
  from_allowance: boolean
  tries: number
  left_ms: number
  created_at: string
  kept_as: Omit<Generated, 'bytes'> | null
}

const columns = `tenant_id, collection_id, artifact_id, work, input, price, payer_tenant_id, payer_id, from_allowance, tries,
  (extract(epoch from deadline - now()) * 1000)::float8 as left_ms, created_at, kept_as`

function toJob(row: Row): Job {
  const { payer_tenant_id: payerTenantId, payer_id: payerId } = row
  const work = row.work === 'paint' ? { kind: row.work, input: row.input } : { kind: row.work, input: row.input }
  return {
    ...work,
    tenantId: row.tenant_id,
    collectionId: row.collection_id,
    artifactId: row.artifact_id,
    priceCredits: row.price,
    payer: payerTenantId === null || payerId === null ? null : { tenantId: payerTenantId, id: payerId },
    fromAllowance: row.from_allowance,
    attempts: row.tries,
    endsAtMs: performance.now() + row.left_ms,
    createdAt: row.created_at,
    kept: row.kept_as,
  }
}

const insertStatement = statement<{ deadline: string }>(
  'artifact-jobs-insert',
  // migrations/0016-making-in-turn.sql explains turn, a tenant's fairness rank. The deadline is a time of the database,
  // because the clock of the worker may differ from the one of this process.
  `insert into artifact_jobs
     (tenant_id, collection_id, artifact_id, work, input, price, payer_tenant_id, payer_id, from_allowance, deadline, turn)
   select $1, $2, $3, $4, $5::json, $6::bigint, $7, $8, $9::boolean,
     now() + make_interval(secs => $10), greatest(own.turn + 1, coalesce(
     (select max(turn) from artifact_jobs where lease_owner is not null),
     (select min(turn) from artifact_jobs),
     0
   ))
   from (select count(*) as jobs, max(turn) as turn from artifact_jobs where tenant_id = $1) own
   where own.jobs < $11::bigint
   returning deadline`,
)

/** A job as it is added. */
export type NewJob = Omit<Job, 'tenantId' | 'attempts' | 'endsAtMs' | 'createdAt' | 'kept'>

/**
 * Returns the deadline; undefined if the tenant has `most` jobs already. Exact only if the caller holds a lock under which
 * all jobs of the tenant are added.
 */
export async function insertJob(
  tx: Tx,
  tenantId: string,
  job: NewJob,
  { timeoutSeconds, most }: { timeoutSeconds: number; most: number },
): Promise<string | undefined> {
  const { collectionId, artifactId, kind, input, priceCredits, payer, fromAllowance } = job
  const held = [priceCredits, payer?.tenantId ?? null, payer?.id ?? null]
  const values = [tenantId, collectionId, artifactId, kind, JSON.stringify(input), ...held, fromAllowance, timeoutSeconds, most]
  const [added] = await tx.query(insertStatement, values)
  if (added) tx.wake(jobChannel, artifactId)
  return added?.deadline
}

const claimStatement = statement<Row>(
  'artifact-jobs-claim',
  // skip locked: two workers that poll at the same moment take different jobs. An expired lease means that its worker
  // is gone, or that it has stood still: then its runs are in $2.
  `update artifact_jobs
   set lease_owner = $1, lease_until = now() + make_interval(secs => ${leaseSeconds}), tries = tries + 1
   where (tenant_id, collection_id, artifact_id) in (
     select tenant_id, collection_id, artifact_id from artifact_jobs
     where ${leaseOver('run_at', maxPauseSeconds)} and ${leaseOver('lease_until', leaseSeconds)}
       and artifact_id <> all($2::text[]) and tenant_id <> all($3::text[])
     order by turn, run_at
     limit 1
     for update skip locked
   )
   returning ${columns}`,
)

interface LeftOut {
  /**
   * The artifacts of its runs that have not ended. It claims the jobs of none of these: an old run could still write
   * under the new lease, and the provider would be paid twice.
   */
  running: string[]
  /** The tenants that have the maximum number of runs of a tenant. */
  tenantIds: string[]
}

/** Claims the job without a lease whose turn it is, of any other tenant. */
export async function claimJob(db: Db, owner: string, { running, tenantIds }: LeftOut): Promise<Job | undefined> {
  const [row] = await db.query(claimStatement, [owner, running, tenantIds])
  return row && toJob(row)
}

const renewStatement = statement<{ artifact_id: string }>(
  'artifact-jobs-renew',
  // skip locked: a job whose row another transaction locks keeps its current lease, and all others are renewed.
  `with free as (
     select tenant_id, collection_id, artifact_id from artifact_jobs where artifact_id = any($2) and lease_owner = $1
     order by tenant_id, collection_id, artifact_id for no key update skip locked
   ), renewed as (
     update artifact_jobs j set lease_until = now() + make_interval(secs => ${leaseSeconds})
     from free f
     where j.tenant_id = f.tenant_id and j.collection_id = f.collection_id and j.artifact_id = f.artifact_id
   )
   select artifact_id from artifact_jobs where artifact_id = any($2) and lease_owner = $1`,
  { writes: true },
)

/** Renews the leases of jobs of any tenant. Returns the ids whose lease the owner still holds. */
export async function renewJobs(db: Db, owner: string, artifactIds: string[]): Promise<Set<string>> {
  return new Set((await db.query(renewStatement, [owner, artifactIds])).map((row) => row.artifact_id))
}

const postponeStatement = statement<never>(
  'artifact-jobs-postpone',
  `update artifact_jobs
   set lease_owner = null, lease_until = null, run_at = now() + make_interval(secs => $5), tries = tries - $6::integer
   where tenant_id = $1 and collection_id = $2 and artifact_id = $3 and lease_owner = $4`,
)

/** Releases a job, to be claimed again after a pause. An attempt that does not count is subtracted. */
export async function postponeJob(
  db: Db,
  tenantId: string,
  { collectionId, artifactId }: Omit<JobKey, 'tenantId'>,
  { owner, seconds, counts }: { owner: string; seconds: number; counts: boolean },
): Promise<void> {
  await db.query(postponeStatement, [tenantId, collectionId, artifactId, owner, seconds, counts ? 0 : 1])
}

const keepStatement = statement<never>(
  'artifact-jobs-keep',
  `update artifact_jobs set kept_bytes = $5, kept_as = $6
   where tenant_id = $1 and collection_id = $2 and artifact_id = $3 and lease_owner = $4`,
)

/** Keeps what was generated with the job, until the job ends. */
export async function keepGenerated(
  db: Db,
  tenantId: string,
  { collectionId, artifactId }: Omit<JobKey, 'tenantId'>,
  { owner, bytes, generated }: { owner: string; bytes: Buffer; generated: Omit<Generated, 'bytes'> },
): Promise<void> {
  await db.query(keepStatement, [tenantId, collectionId, artifactId, owner, bytes, JSON.stringify(generated)])
}

const keptStatement = statement<{ kept_bytes: Buffer }>(
  'artifact-jobs-kept',
  `select kept_bytes from artifact_jobs
   where tenant_id = $1 and collection_id = $2 and artifact_id = $3 and lease_owner = $4 and kept_bytes is not null`,
)

/** The bytes that keepGenerated has kept; undefined: the owner no longer holds the job. */
export async function findKeptBytes(
  db: Db,
  tenantId: string,
  { collectionId, artifactId }: Omit<JobKey, 'tenantId'>,
  owner: string,
): Promise<Buffer | undefined> {
  const [row] = await db.query(keptStatement, [tenantId, collectionId, artifactId, owner])
  return row?.kept_bytes
}

const deleteStatement = statement<{ artifact_id: string }>(
  'artifact-jobs-delete',
  `delete from artifact_jobs
   where tenant_id = $1 and collection_id = $2 and artifact_id = $3 and lease_owner = $4
   returning artifact_id`,
)

/** Deletes a job that is done. Returns false if the owner no longer held its lease. */
export async function deleteJob(
  tx: Tx,
  tenantId: string,
  { collectionId, artifactId }: Omit<JobKey, 'tenantId'>,
  owner: string,
): Promise<boolean> {
  return (await tx.query(deleteStatement, [tenantId, collectionId, artifactId, owner])).length === 1
}

const useAllowanceStatement = statement<{ used: number }>(
  'paint-allowances-use',
  // On conflict: the month's row exists, and the update succeeds only below the allowance.
  `insert into paint_allowances as a (tenant_id, month, used) values ($1, date_trunc('month', now()), 1)
   on conflict on constraint paint_allowances_pkey do update set used = a.used + 1 where a.used < $2
   returning used`,
)

/** Uses one of the month's free paints; false: none is left. */
export async function useAllowance(tx: Tx, tenantId: string, perMonth: number): Promise<boolean> {
  return perMonth > 0 && (await tx.query(useAllowanceStatement, [tenantId, perMonth])).length === 1
}

const returnAllowanceStatement = statement<never>(
  'paint-allowances-return',
  `update paint_allowances set used = used - 1 where tenant_id = $1 and month = date_trunc('month', $2::timestamptz) and used > 0`,
)

/** Returns a free paint to the month in which it was used. */
export async function returnAllowance(tx: Tx, tenantId: string, usedAt: string): Promise<void> {
  await tx.query(returnAllowanceStatement, [tenantId, usedAt])
}
