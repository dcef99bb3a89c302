import { hash } from 'node:crypto'
import type { Context } from '#features/context.ts'
import { isPassing } from '#db/is-passing.ts'
import { keepTrying } from '@atrium/traffic/keep-trying'
import { LeasedWork, type LeasedRun } from '#db/lease-poller.ts'
import { newId } from '#crypto/random.ts'
import { originalKey } from '#features/blob-deletions/blob-keys.ts'
import { updateStage } from '../store.ts'
import { finishFailed, finishReady } from './finish-making.ts'
import { MakingFailed, type Job } from './job.ts'
import { claimJobs, jobChannel, postponeJob, renewJobs } from './job-store.ts'
import { makeArtifact } from './make-artifact.ts'

const renewEveryMs = 8_000
/** How long is waited before each further try: a provider or a store that is away for a minute costs nobody a picture. */
const retryAfterSeconds = [5, 15, 45]
const maxTries = retryAfterSeconds.length + 1
/** After what is not the job's fault, and counts for no try. */
const passingAfterSeconds = 2

/** Makes artifacts in this process: takes jobs that nobody works on, a few at a time, since pictures take memory and processor. */
export class ArtifactMaker {
  readonly #ctx: Context
  readonly #capacity: number
  readonly #owner = newId('request')
  readonly #work: LeasedWork<LeasedRun>

  constructor(ctx: Context, databaseUrl: string, capacity: number) {
    this.#ctx = ctx
    this.#capacity = capacity
    this.#work = new LeasedWork({
      databaseUrl,
      log: ctx.log,
      what: 'artifacts to be made',
      channel: jobChannel,
      renewEveryMs,
      take: () => this.#take(),
      renew: (ids) => renewJobs(ctx.db, this.#owner, ids),
    })
  }

  start(): Promise<void> {
    return this.#work.start()
  }

  /** Gives its jobs back, for another worker to take at once. */
  async stop(): Promise<void> {
    const closed = this.#work.close()
    // At once: closing waits for the database, and what is under way would go on meanwhile.
    this.#work.abortAll('the worker stops')
    await closed
    // A look that was under way may have begun more.
    this.#work.abortAll('the worker stops')
    await this.#work.ended()
  }

  async #take(): Promise<boolean> {
    const free = this.#capacity - this.#work.runs.size
    if (free <= 0) return false
    for (const job of await claimJobs(this.#ctx.db, this.#owner, free)) this.#begin(job)
    return false
  }

  #begin(job: Job): void {
    // A process that stood still for long finds its own job again.
    this.#work.runs.get(job.artifactId)?.abort('its lease ran out')
    const abort = new AbortController()
    const done = this.#make(job, abort.signal).catch((error: unknown) =>
      this.#ctx.log.error({ err: error, artifact: job.artifactId }, 'an artifact was left unmade'),
    )
    this.#work.add(job.artifactId, { done, abort: (reason) => abort.abort(new Error(reason)) })
    void done.then(() => this.#work.look())
  }

  async #make(job: Job, signal: AbortSignal): Promise<void> {
    try {
      const leftMs = Date.parse(job.deadline) - Date.now()
      // A worker that dies at it every time must not be killed for ever.
      if (job.tries > maxTries || leftMs <= 0) throw new MakingFailed('gave_up', 'It could not be made in time.')
      const within = AbortSignal.any([signal, AbortSignal.timeout(leftMs)])
      // What is made is paid for at its provider: a lost connection must not have it made again.
      const insist = <T>(call: () => Promise<T>) => keepTrying(call, { signal: within, isPassing })
      await insist(() => updateStage(this.#ctx.db, job, 'running'))
      const made = await makeArtifact(this.#ctx, job, within)
      // Bytes of an artifact that is ready never change: one who comes late must not write over what another one stored.
      if (!(await insist(() => this.#holds(job)))) return
      await insist(() => updateStage(this.#ctx.db, job, 'storing'))
      within.throwIfAborted()
      // The same key at every try: a second one replaces what the first one left.
      await this.#ctx.blobs.write(originalKey(job, job.artifactId), made.bytes, { mime: made.mime })
      const { bytes, ...rest } = made
      const stored = { ...rest, bytes: bytes.length, sha256: hash('sha256', bytes, 'hex') }
      await insist(() => finishReady(this.#ctx, job, this.#owner, stored))
    } catch (error) {
      await this.#fail(job, signal, error)
    }
  }

  /** Whether the job is still ours; if so, it stays ours while the file is stored. */
  async #holds({ artifactId }: Job): Promise<boolean> {
    return (await renewJobs(this.#ctx.db, this.#owner, [artifactId])).has(artifactId)
  }

  async #fail(job: Job, signal: AbortSignal, error: unknown): Promise<void> {
    if (signal.aborted) {
      if (this.#work.stopped) await postponeJob(this.#ctx.db, job, this.#owner, 0, { counts: true })
      return
    }
    const timeIsUp = Date.now() >= Date.parse(job.deadline)
    if (!timeIsUp && isPassing(error)) return this.#postpone(job, signal, passingAfterSeconds, { counts: false })
    const known = error instanceof MakingFailed
    if (!known) this.#ctx.log.error({ err: error, artifact: job.artifactId }, 'an artifact could not be made')
    const afterSeconds = retryAfterSeconds[job.tries - 1]
    if (!timeIsUp && afterSeconds !== undefined && (!known || error.passing))
      return this.#postpone(job, signal, afterSeconds, { counts: true })
    const reason = timeIsUp
      ? new MakingFailed('gave_up', 'It could not be made in time.')
      : known
        ? error
        : new MakingFailed('internal_error', 'Something broke on our side.')
    await keepTrying(() => finishFailed(this.#ctx, job, this.#owner, reason), { signal, isPassing })
  }

  async #postpone(job: Job, signal: AbortSignal, seconds: number, terms: { counts: boolean }): Promise<void> {
    await keepTrying(() => postponeJob(this.#ctx.db, job, this.#owner, seconds, terms), { signal, isPassing })
  }
}
