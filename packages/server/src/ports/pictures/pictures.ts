import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assertAcceptable } from './assert-acceptable.ts'
import { PictureChild } from './picture-child.ts'
import { PictureError } from './picture-error.ts'
import type { CleanedPicture, PictureFacts, PictureJob, PictureResults, ShrunkFormat } from './picture-job.ts'
import { Slots } from './slots.ts'
import { cleanWorkBytes } from './work-bytes.ts'

const children = 2
/** A job that takes more fills the house: then nothing else runs, and the memory of the idle is given back first. */
const heavyBytes = 48 * 1024 * 1024
/** A process that has grown so large is replaced. */
const maxIdleRssBytes = 160 * 1024 * 1024
const idleMs = 60_000
const jobMs = 9_000
const folderPrefix = 'atrium-picture-'
const abandonedMs = 60 * 60 * 1_000

/** Cleans and shrinks pictures that strangers sent, in processes of their own: two at once, and in bounded memory. */
export class Pictures {
  readonly #slots: Slots
  readonly #folders: Slots
  readonly #idle: { child: PictureChild; timer: NodeJS.Timeout }[] = []
  readonly #living = new Set<PictureChild>()
  readonly #jobMs: number
  #closed = false

  constructor(options: { jobMs?: number; waitMs?: number } = {}) {
    const busy = () => new PictureError('busy', 'Too many pictures at once.')
    const waitMs = options.waitMs ?? 10_000
    this.#jobMs = options.jobMs ?? jobMs
    this.#slots = new Slots({ slots: children, waiting: 100, waitMs, busy })
    this.#folders = new Slots({ slots: 2 * children, waiting: 100, waitMs, busy })
  }

  /** Reads the header of the file, and refuses what is not to be decoded. */
  async inspect(path: string): Promise<PictureFacts> {
    const facts = await this.#run({ work: 'inspect', path }, 0)
    assertAcceptable(facts)
    return facts
  }

  /** Writes nothing but the picture to `out`. */
  clean(path: string, out: string, facts: PictureFacts): Promise<CleanedPicture> {
    return this.#run({ work: 'clean', path, out, facts }, cleanWorkBytes(facts))
  }

  /** Writes a smaller one to `out`. */
  async shrink(path: string, out: string, to: { width: number; format: ShrunkFormat }, workBytes: number): Promise<void> {
    await this.#run({ work: 'shrink', path, out, ...to }, workBytes)
  }

  /** Gives work a folder for its files, a few at a time: each may hold some hundred MiB. */
  withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
    return this.#folders.run(1, async () => {
      const folder = await mkdtemp(join(tmpdir(), folderPrefix))
      try {
        return await work(folder)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  }

  /** Removes the folders that killed processes left; says how many. */
  async sweep(): Promise<number> {
    const names = (await readdir(tmpdir())).filter((name) => name.startsWith(folderPrefix))
    let removed = 0
    for (const folder of names.map((name) => join(tmpdir(), name))) {
      const stats = await stat(folder).catch(() => undefined)
      if (!stats || Date.now() - stats.mtimeMs < abandonedMs) continue
      await rm(folder, { recursive: true, force: true })
      removed++
    }
    return removed
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { timer } of this.#idle) clearTimeout(timer)
    const ended = [...this.#living]
    for (const child of ended) child.end()
    await Promise.all(ended.map((child) => child.exited))
  }

  #run<J extends PictureJob>(job: J, workBytes: number): Promise<PictureResults[J['work']]> {
    const heavy = workBytes > heavyBytes
    return this.#slots.run(heavy ? children : 1, async () => {
      const child = this.#take(heavy)
      try {
        const answer = await child.run(job, this.#jobMs)
        if ('noRoom' in answer) throw new PictureError('busy', 'There is no room for the picture.')
        if ('refused' in answer) throw new PictureError('refused', answer.refused)
        return answer.result as PictureResults[J['work']]
      } finally {
        await this.#giveBack(child)
      }
    })
  }

  #take(heavy: boolean): PictureChild {
    if (this.#closed) throw new PictureError('busy', 'The server stops.')
    const [first, ...others] = this.#idle.splice(0, heavy ? children : 1)
    for (const { timer } of [first, ...others].filter((one) => one !== undefined)) clearTimeout(timer)
    for (const { child } of others) child.end()
    if (first?.child.alive) return first.child
    const child = new PictureChild()
    this.#living.add(child)
    void child.exited.then(() => this.#living.delete(child))
    return child
  }

  /** Its slot is free once its memory is. */
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
