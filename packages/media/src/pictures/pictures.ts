import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assertAcceptable } from './assert-acceptable.ts'
import { FairSemaphore } from './fair-semaphore.ts'
import { PictureError } from './picture-error.ts'
import type { CleanedPicture, PictureFacts, PictureJob, PictureResults, ShrunkFormat } from './picture-job.ts'
import { PictureLane } from './picture-lane.ts'
import { cleanWorkBytes, isQuickToClean, isQuickToShrink } from './work-bytes.ts'

const children = 2
/** A job that needs more memory runs alone: no other long job runs meanwhile, and idle processes are ended first. */
const heavyBytes = 48 * 1024 * 1024
const jobMs = 9_000
/** After this time a picture moves to the slow lane. */
const quickJobMs = 1_500
const folderPrefix = 'atrium-picture-'
const abandonedMs = 60 * 60 * 1_000

interface Options {
  jobMs?: number
  quickJobMs?: number
  waitMs?: number
}

/**
 * Cleans and shrinks untrusted pictures in separate processes, in bounded memory and time. Tenants take turns, and
 * quick work has its own process, so neither many pictures of another tenant nor a slow one delay it. The tenant is
 * the owner of the picture, whoever requested it.
 */
export class Pictures {
  readonly #long: PictureLane
  readonly #quick: PictureLane
  readonly #folders: FairSemaphore
  readonly #jobMs: number
  readonly #quickJobMs: number

  constructor(options: Options = {}) {
    const busy = () => new PictureError('busy', 'Too many pictures at once.')
    const queue = { maxWaiting: 100, maxWaitingPerTenant: 32, timeoutMs: options.waitMs ?? 10_000, busy }
    this.#jobMs = options.jobMs ?? jobMs
    this.#quickJobMs = Math.min(this.#jobMs, options.quickJobMs ?? quickJobMs)
    this.#long = new PictureLane({ permits: children, permitsPerTenant: children, ...queue })
    this.#quick = new PictureLane({ permits: 1, permitsPerTenant: 1, ...queue })
    this.#folders = new FairSemaphore({ permits: 4 * children, permitsPerTenant: 2 * children, ...queue })
  }

  /** Reads the header of the file, and rejects files that must not be decoded. */
  async inspect(path: string, tenantId: string): Promise<PictureFacts> {
    const facts = await this.#run({ work: 'inspect', path }, tenantId, { workBytes: 0, quick: true })
    assertAcceptable(facts)
    return facts
  }

  /** Writes only the picture to `out`, without metadata. */
  clean(path: string, out: string, facts: PictureFacts, tenantId: string): Promise<CleanedPicture> {
    const cost = { workBytes: cleanWorkBytes(facts), quick: isQuickToClean(facts) }
    return this.#run({ work: 'clean', path, out, facts }, tenantId, cost)
  }

  /** Writes a smaller picture to `out`. */
  async shrink(
    path: string,
    out: string,
    { width, format, sourcePixels }: { width: number; format: ShrunkFormat; sourcePixels: number },
    workBytes: number,
    tenantId: string,
  ): Promise<void> {
    const quick = isQuickToShrink({ sourcePixels, format }, workBytes)
    await this.#run({ work: 'shrink', path, out, width, format }, tenantId, { workBytes, quick })
  }

  /** Lends a folder to a job, to a few jobs at a time, because each may contain some hundred MiB. */
  withFolder<T>(work: (folder: string) => Promise<T>, tenantId: string): Promise<T> {
    return this.#folders.run(tenantId, 1, async () => {
      const folder = await mkdtemp(join(tmpdir(), folderPrefix))
      try {
        return await work(folder)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  }

  /** Removes the folders of killed processes that it can remove, and returns how many. */
  async sweep(): Promise<number> {
    const names = (await readdir(tmpdir())).filter((name) => name.startsWith(folderPrefix))
    let removed = 0
    for (const folder of names.map((name) => join(tmpdir(), name))) {
      const stats = await stat(folder).catch(() => undefined)
      if (!stats || Date.now() - stats.mtimeMs < abandonedMs) continue
      // A folder of another user of this machine cannot be removed. Those after it still are.
      const isRemoved = await rm(folder, { recursive: true, force: true }).then(
        () => true,
        () => false,
      )
      if (isRemoved) removed++
    }
    return removed
  }

  async close(): Promise<void> {
    await Promise.all([this.#long.close(), this.#quick.close()])
  }

  async #run<J extends PictureJob>(
    job: J,
    tenantId: string,
    { workBytes, quick }: { workBytes: number; quick: boolean },
  ): Promise<PictureResults[J['work']]> {
    if (quick) {
      try {
        return await this.#quick.run(job, { tenantId, heavy: false, jobMs: this.#quickJobMs })
      } catch (error) {
        if (!(error instanceof PictureError && error.code === 'too_slow')) throw error
        if ('out' in job) await rm(job.out, { force: true })
      }
    }
    return this.#long.run(job, { tenantId, heavy: workBytes > heavyBytes, jobMs: this.#jobMs })
  }
}
