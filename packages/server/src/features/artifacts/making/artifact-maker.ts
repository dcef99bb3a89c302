import { hash } from 'node:crypto'
import { Listener } from '@atrium/traffic/listener'
import type { Context } from '../../../context.ts'
import { newId } from '../../../random.ts'
import { originalKey } from '../blob-keys.ts'
import { updateStage } from '../store.ts'
import { finishFailed, finishReady } from './finish-making.ts'
import { MakingFailed, type Job } from './job.ts'
import { claimJobs, jobChannel, postponeJob, renewJobs } from './job-store.ts'
import { makeArtifact } from './make-artifact.ts'

const lookEveryMs = 1_000
const renewEveryMs = 8_000
const maxTries = 3
const retryAfterSeconds = 5

interface Working {
  abort: AbortController
  done: Promise<void>
}

/** Makes artifacts in this process: takes jobs that nobody works on, a few at a time, since pictures take memory and processor. */
export class ArtifactMaker {
  readonly #ctx: Context
  readonly #capacity: number
  readonly #owner = newId('request')
  readonly #working = new Map<string, Working>()
  readonly #listener: Listener
  readonly #timers: NodeJS.Timeout[] = []
  #looking: Promise<void> | undefined
  #stopped = false

  constructor(ctx: Context, databaseUrl: string, capacity: number) {
    this.#ctx = ctx
    this.#capacity = capacity
    this.#listener = new Listener({
      url: databaseUrl,
      channel: jobChannel,
      onMessage: () => this.#look(),
      onGap: () => this.#look(),
      onError: (error) => ctx.log.error({ err: error }, 'notifications of artifacts to be made lost; reconnecting'),
    })
  }

  async start(): Promise<void> {
    await this.#listener.start()
    this.#timers.push(setInterval(() => this.#look(), lookEveryMs))
    this.#timers.push(setInterval(() => void this.#renew(), renewEveryMs))
    this.#look()
  }

  /** Gives its jobs back, for another worker to take at once. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#listener.close()
    await this.#looking
    const working = [...this.#working.values()]
    for (const { abort } of working) abort.abort(new Error('the worker stops'))
    await Promise.all(working.map(({ done }) => done))
  }

  #look(): void {
    if (this.#stopped || this.#looking) return
    this.#looking = this.#take()
      .catch((error: unknown) => this.#ctx.log.error({ err: error }, 'artifacts to be made not looked for'))
      .finally(() => {
        this.#looking = undefined
      })
  }

  async #take(): Promise<void> {
    const free = this.#capacity - this.#working.size
    if (free <= 0) return
    for (const job of await claimJobs(this.#ctx.db, this.#owner, free)) this.#work(job)
  }

  #work(job: Job): void {
    const abort = new AbortController()
    const done = this.#make(job, abort.signal)
      .catch((error: unknown) => this.#ctx.log.error({ err: error, artifact: job.artifactId }, 'an artifact was left unmade'))
      .finally(() => {
        this.#working.delete(job.artifactId)
        this.#look()
      })
    this.#working.set(job.artifactId, { abort, done })
  }

  async #renew(): Promise<void> {
    try {
      const asked = [...this.#working.keys()]
      const held = await renewJobs(this.#ctx.db, this.#owner, asked)
      for (const id of asked) if (!held.has(id)) this.#working.get(id)?.abort.abort(new Error('the job is over'))
    } catch (error) {
      this.#ctx.log.error({ err: error }, 'leases of artifacts not renewed')
    }
  }

  async #make(job: Job, signal: AbortSignal): Promise<void> {
    try {
      const leftMs = Date.parse(job.deadline) - Date.now()
      // A worker that dies at it every time must not be killed for ever.
      if (job.tries > maxTries || leftMs <= 0) throw new MakingFailed('gave_up', 'It could not be made in time.')
      const within = AbortSignal.any([signal, AbortSignal.timeout(leftMs)])
      await updateStage(this.#ctx.db, job, 'running')
      const made = await makeArtifact(this.#ctx, job, within)
      await updateStage(this.#ctx.db, job, 'storing')
      // The same key at every try: a second one replaces what the first one left.
      await this.#ctx.blobs.write(originalKey(job, job.artifactId), made.bytes, { mime: made.mime })
      const { bytes, ...rest } = made
      await finishReady(this.#ctx, job, this.#owner, { ...rest, bytes: bytes.length, sha256: hash('sha256', bytes, 'hex') })
    } catch (error) {
      await this.#fail(job, signal, error)
    }
  }

  async #fail(job: Job, signal: AbortSignal, error: unknown): Promise<void> {
    if (signal.aborted) {
      if (this.#stopped) await postponeJob(this.#ctx.db, job, this.#owner, 0)
      return
    }
    const timeIsUp = Date.now() >= Date.parse(job.deadline)
    const known = error instanceof MakingFailed
    if (!known) this.#ctx.log.error({ err: error, artifact: job.artifactId }, 'an artifact could not be made')
    if (!timeIsUp && job.tries < maxTries && (!known || error.passing)) {
      await postponeJob(this.#ctx.db, job, this.#owner, retryAfterSeconds)
      return
    }
    const reason = timeIsUp
      ? new MakingFailed('gave_up', 'It could not be made in time.')
      : known
        ? error
        : new MakingFailed('internal_error', 'Something broke on our side.')
    await finishFailed(this.#ctx, job, this.#owner, reason)
  }
}
