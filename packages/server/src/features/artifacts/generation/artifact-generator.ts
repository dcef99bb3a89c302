import { hash } from 'node:crypto'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { keepTrying } from '@atrium/traffic/keep-trying'
import type { Context } from '#features/context.ts'
import { newId } from '#crypto/random.ts'
import { isDiskFull } from '#errors/caught.ts'
import { isPassing } from '#db/is-passing.ts'
import { LeasePoller, type LeasedRun } from '#db/lease-poller.ts'
import { originalKey } from '#features/blob-deletions/blob-keys.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { deleteUnserved } from '../delete-unserved.ts'
import { updateStage } from '../store.ts'
import { finishFailed, finishReady, outOfTime } from './generation-lifecycle.ts'
import {
  type Generated,
  GenerationError,
  type Job,
  claimJob,
  findKeptBytes,
  jobChannel,
  keepGenerated,
  maxPauseSeconds,
  postponeJob,
  renewJobs,
} from './job-store.ts'
import { paintPicture, produceArtifact } from './generate.ts'

const renewIntervalMs = 8_000
/** The pause before each further attempt: an outage of a minute at a provider fails no job. */
const retryPausesSeconds = [5, 15, maxPauseSeconds]
const maxAttempts = retryPausesSeconds.length + 1
/**
 * The pause after a transient fault of the database, and in an outage of what stores artifacts. Neither counts as an attempt:
 * they end, or the time of the job does.
 */
const transientPauseSeconds = 2
const outagePauseSeconds = 5

/** Repeats a call to the database until it succeeds. */
type Retry = <T>(call: () => Promise<T>) => Promise<T>

/** Most jobs wait for providers and hosts; the work on their pictures takes turns. */
const maxRuns = 16
/** A tenant chooses the servers that its jobs wait for, so its jobs may not occupy all runs. */
const maxRunsPerTenant = 2

interface ArtifactRun extends LeasedRun {
  tenantId: string
}

/** Generates artifacts in this process. */
export class ArtifactGenerator {
  readonly #ctx: Context
  readonly #capacity: number
  readonly #owner = newId('request')
  readonly #poller: LeasePoller<ArtifactRun>

  constructor(ctx: Context, databaseUrl: string, capacity = maxRuns) {
    this.#ctx = ctx
    this.#capacity = capacity
    this.#poller = new LeasePoller({
      databaseUrl,
      log: ctx.log,
      what: 'artifact jobs',
      channel: jobChannel,
      renewIntervalMs,
      take: () => this.#take(),
      renew: (ids) => renewJobs(ctx.db, this.#owner, ids),
    })
  }

  start(): Promise<void> {
    return this.#poller.start()
  }

  /** Releases its jobs, so that another worker can claim them at once. */
  async stop(): Promise<void> {
    const closed = this.#poller.close()
    // Before the close has ended: it waits for the database, and the jobs would continue meanwhile.
    this.#poller.abortAll('the worker stops')
    await closed
    // A poll that was running may have started more jobs.
    this.#poller.abortAll('the worker stops')
    await this.#poller.ended()
  }

  async #take(): Promise<boolean> {
    const { runs } = this.#poller
    if (runs.size >= this.#capacity) return false
    const running = [...runs.keys()]
    const ofTenants = Map.groupBy(runs.values(), ({ tenantId }) => tenantId)
    const tenantIds = [...ofTenants].flatMap(([id, own]) => (own.length >= maxRunsPerTenant ? [id] : []))
    // Jobs are claimed one by one: whether a tenant may have another run depends on the job that was claimed before.
    const job = await claimJob(this.#ctx.db, this.#owner, { running, tenantIds })
    if (job) this.#begin(job)
    return job !== undefined
  }

  #begin(job: Job): void {
    const abort = new AbortController()
    const done = this.#ctx.metrics
      .measure(
        'artifact_job',
        () => this.#run(job, abort.signal),
        (outcome) => outcome,
      )
      .then(
        () => undefined,
        (error: unknown) =>
          this.#ctx.log.error({ err: error, artifact: job.artifactId }, 'a generation stopped without an outcome'),
      )
    this.#poller.add(job.artifactId, { tenantId: job.tenantId, done, abort: (reason) => abort.abort(new Error(reason)) })
    void done.then(() => this.#poller.poll())
  }

  async #run(job: Job, signal: AbortSignal): Promise<'done' | 'taken_over' | 'failed'> {
    const { tenantId, collectionId, artifactId: id } = job
    try {
      const leftMs = Math.ceil(job.endsAtMs - performance.now())
      // A job that kills its worker on every attempt must end.
      if (job.attempts > maxAttempts || leftMs <= 0) throw outOfTime()
      const within = AbortSignal.any([signal, AbortSignal.timeout(leftMs)])
      // The provider charges for what it generates: a lost database connection must not repeat the generation.
      const retry = <T>(call: () => Promise<T>) => keepTrying(call, { signal: within, isPassing })
      await retry(() => updateStage(this.#ctx.db, tenantId, collectionId, { id, stage: 'running' }))
      const generated = job.kept ? await this.#findKept(job, job.kept, retry) : await this.#generateAndKeep(job, within, retry)
      if (!generated) return 'taken_over'
      const { bytes, ...shown } = generated
      // The bytes of a ready artifact never change: a late worker must not overwrite what another one stored.
      if (!(await retry(() => this.#renew(job)))) return 'taken_over'
      await retry(() => updateStage(this.#ctx.db, tenantId, collectionId, { id, stage: 'storing' }))
      within.throwIfAborted()
      // All attempts use one key, and a store may still execute a write that has failed here. So every attempt must store
      // the same bytes.
      await this.#ctx.blobs.write(originalKey(job, id), bytes, { mime: shown.mime })
      const stored = { ...shown, bytes: bytes.length, sha256: hash('sha256', bytes, 'hex') }
      if (await retry(() => finishReady(this.#ctx, job, this.#owner, stored))) return 'done'
      await retry(() => deleteUnserved(this.#ctx, job))
      return 'taken_over'
    } catch (error) {
      await this.#fail(job, signal, error)
      return 'failed'
    }
  }

  async #findKept(job: Job, kept: Omit<Generated, 'bytes'>, retry: Retry): Promise<Generated | undefined> {
    const bytes = await retry(() => findKeptBytes(this.#ctx.db, job.tenantId, job, this.#owner))
    return bytes && { ...kept, bytes }
  }

  async #generateAndKeep(job: Job, signal: AbortSignal, retry: Retry): Promise<Generated> {
    // While the blob store is down, no provider is asked: this throws.
    await this.#ctx.blobs.stat(originalKey(job, job.artifactId))
    const made = await this.#generate(job, signal)
    const { bytes, ...generated } = made
    // What was paid for survives this process. Another attempt could make other bytes, which a late write of this one would
    // replace: the collection has changed, or the tenant has a key for another painter now.
    await retry(() => keepGenerated(this.#ctx.db, job.tenantId, job, { owner: this.#owner, bytes, generated }))
    return made
  }

  #generate(job: Job, signal: AbortSignal): Promise<Generated> {
    if (job.kind === 'paint') return paintPicture(this.#ctx, job.tenantId, job.input, signal)
    return produceArtifact(this.#ctx, job, signal)
  }

  /** Returns whether this process still holds the job; if so, the renewed lease covers the storing of the blob. */
  async #renew({ artifactId }: Job): Promise<boolean> {
    return (await renewJobs(this.#ctx.db, this.#owner, [artifactId])).has(artifactId)
  }

  async #fail(job: Job, signal: AbortSignal, error: unknown): Promise<void> {
    const owner = this.#owner
    if (signal.aborted) {
      if (this.#poller.stopped) await postponeJob(this.#ctx.db, job.tenantId, job, { owner, seconds: 0, counts: true })
      return
    }
    const isLate = performance.now() >= job.endsAtMs
    if (!isLate && isPassing(error)) return this.#postpone(job, signal, { seconds: transientPauseSeconds, counts: false })
    if (!isLate && isOutage(error)) {
      this.#ctx.log.error({ err: error, artifact: job.artifactId }, 'an artifact could not be stored')
      return this.#postpone(job, signal, { seconds: outagePauseSeconds, counts: false })
    }
    const known = error instanceof GenerationError
    if (!known) this.#ctx.log.error({ err: error, artifact: job.artifactId }, 'an artifact could not be generated')
    const seconds = retryPausesSeconds[job.attempts - 1]
    if (!isLate && seconds !== undefined && (!known || error.transient))
      return this.#postpone(job, signal, { seconds, counts: true })
    const reason = isLate ? outOfTime() : known ? error : internalError()
    await keepTrying(() => finishFailed(this.#ctx, job, owner, reason), { signal, isPassing })
  }

  async #postpone(job: Job, signal: AbortSignal, terms: { seconds: number; counts: boolean }): Promise<void> {
    const postpone = () => postponeJob(this.#ctx.db, job.tenantId, job, { owner: this.#owner, ...terms })
    await keepTrying(postpone, { signal, isPassing })
  }
}

/** The blob store is down, the disk for temporary files is full, or too many pictures wait. */
function isOutage(error: unknown): boolean {
  if (error instanceof BlobError) return error.code === 'unavailable'
  return error instanceof PictureError ? error.code === 'busy' : isDiskFull(error)
}

function internalError(): GenerationError {
  return new GenerationError('internal_error', 'An internal error occurred.')
}
