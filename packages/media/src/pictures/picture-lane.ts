import { FairSemaphore, type FairLimits } from './fair-semaphore.ts'
import { PictureChild } from './picture-child.ts'
import { PictureError } from './picture-error.ts'
import type { PictureJob, PictureResults } from './picture-job.ts'

/** A process that has grown to this size is replaced. */
const maxIdleRssBytes = 160 * 1024 * 1024
/** How long a process stays idle after its last job. */
const idleMs = 60_000

/** Runs jobs of one kind in a few processes, which are kept for a while when they are idle. */
export class PictureLane {
  readonly #semaphore: FairSemaphore
  readonly #children: number
  readonly #idle: { child: PictureChild; timer: NodeJS.Timeout }[] = []
  readonly #running = new Set<PictureChild>()
  #closed = false

  constructor(limits: FairLimits) {
    this.#semaphore = new FairSemaphore(limits)
    this.#children = limits.permits
  }

  /** Heavy work takes all permits: it runs alone in the lane, after the idle processes have ended. */
  run<J extends PictureJob>(
    job: J,
    { tenantId, heavy, jobMs }: { tenantId: string; heavy: boolean; jobMs: number },
  ): Promise<PictureResults[J['work']]> {
    return this.#semaphore.run(tenantId, heavy ? this.#children : 1, async () => {
      const child = this.#take(heavy)
      try {
        const answer = await child.run(job, jobMs)
        if ('noRoom' in answer) throw new PictureError('busy', 'The disk has no space for the picture. Try again later.')
        if ('refused' in answer) throw new PictureError('refused', answer.refused)
        return answer.result as PictureResults[J['work']]
      } finally {
        await this.#giveBack(child)
      }
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { timer } of this.#idle) clearTimeout(timer)
    const ended = [...this.#running]
    for (const child of ended) child.end()
    await Promise.all(ended.map((child) => child.exited))
  }

  #take(heavy: boolean): PictureChild {
    if (this.#closed) throw new PictureError('busy', 'The server is stopping. Try again later.')
    const [first, ...others] = this.#idle.splice(0, heavy ? this.#children : 1)
    for (const { timer } of [first, ...others].filter((one) => one !== undefined)) clearTimeout(timer)
    for (const { child } of others) child.end()
    if (first?.child.alive) return first.child
    const child = new PictureChild()
    this.#running.add(child)
    void child.exited.then(() => this.#running.delete(child))
    return child
  }

  /** The permit is released by the caller afterwards, so a process that ends has freed its memory by then. */
  async #giveBack(child: PictureChild): Promise<void> {
    if (this.#closed || !child.alive || child.rssBytes > maxIdleRssBytes) {
      child.end()
      await child.exited
      return
    }
    const timer = setTimeout(() => {
      this.#idle.splice(
        this.#idle.findIndex((one) => one.child === child),
        1,
      )
      child.end()
    }, idleMs).unref()
    this.#idle.push({ child, timer })
  }
}
