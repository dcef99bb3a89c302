import { createHash, randomUUID } from 'node:crypto'
import { readdir, rename, rm, stat, statfs, truncate, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '#errors/caught.ts'
import { BlobError } from '../blobs.ts'

/** No room is kept for the rest of a file that was not written for this long: its process has probably been killed. */
const stalledMs = 2 * 60 * 1_000
/** 256 kbit/s. A slower upload of 100 MiB would hold a connection for hours, and room on the disk. */
export const minBytesPerSecond = 32 * 1024
/** A file may be this late. Some file systems show what was written some seconds later. */
const graceMs = 10_000
/** Late files may be many, and are checked at each part: for this long, they use what was last read of the others. */
const restsMs = 1_000
/** For how many keys of uploads the process knows when they were first used. */
const maxKeys = 10_000

/** Of an upload, only one file exists for its key, and it counts towards the share of its holder. */
export type GrowingFile = { name: string; beganMs: number; isUpload: boolean }

/**
 * The folder of the files that are being written, and the room on the disk that is kept for their rest. Several
 * processes may share the folder. So all that they must know of a file is in its length, its blocks and its name:
 * `target.beganMs.order.holder`. The time is part of the name because not every file system keeps the birth time of a
 * file.
 */
export class GrowingFiles {
  readonly folder: string
  readonly #minFreeBytes: number
  /**
   * An upload that is begun again keeps its first time: otherwise it would keep room again without sending anything.
   */
  readonly #firstBegan = new Map<string, number>()
  #rests = { readAtMs: -Infinity, rests: new Map<string, number>() }
  #lastReserved: Promise<unknown> = Promise.resolve()

  constructor(folder: string, minFreeBytes: number) {
    this.folder = folder
    this.#minFreeBytes = minFreeBytes
  }

  /** The file for an upload. The first two names of its key are its holder: a tenant. */
  forUpload(key: string): GrowingFile {
    const target = hashOf(key)
    const beganMs = this.#firstBegan.get(target) ?? Date.now()
    const [oldest] = this.#firstBegan.keys()
    if (this.#firstBegan.size >= maxKeys && oldest !== undefined) this.#firstBegan.delete(oldest)
    this.#firstBegan.set(target, beganMs)
    const holder = hashOf(key.split('/').slice(0, 2).join('/'))
    return { name: [target, beganMs, newOrder(), holder].join('.'), beganMs, isUpload: true }
  }

  /** The file for what the platform itself writes. */
  forKey(key: string): GrowingFile {
    const beganMs = Date.now()
    return { name: [hashOf(key), beganMs, newOrder(), ''].join('.'), beganMs, isUpload: false }
  }

  /**
   * Gives the file its whole length, without content, so that every process sees how much the files that are being
   * written will still take. Of files that begin together, as many are admitted as there is room for. If two processes
   * ask for the last room at the same moment, both may be refused.
   */
  async reserve({ name, isUpload }: GrowingFile, file: FileHandle, bytes: number): Promise<void> {
    await this.#inTurn(async () => {
      if (isUpload) await assertNotEnded(file)
      await file.truncate(bytes)
      if (isUpload) await this.#endEarlier(name)
      const others = await this.#readRests()
      others.delete(name)
      const { holder } = partsOf(name)
      // The other uploads of the same tenant count twice, so that each tenant leaves room for the next one.
      const ofHolder = holder ? sumOf(others, (other) => partsOf(other).holder === holder) : 0
      try {
        await this.#assertFree(sumOf(others) + ofHolder + bytes)
      } catch (error) {
        // The file is removed later. Truncated, it does not count for the next one in turn.
        await file.truncate()
        throw error
      }
    })
  }

  /**
   * Called again while the file grows, because others write to the disk too. No room is kept for the rest of a file
   * that is late. It continues as long as there is room beside that which is kept for others.
   */
  async assertRoom(
    { name, beganMs, isUpload }: GrowingFile,
    file: FileHandle,
    part: { written: number; bytes: number; rest: number },
  ) {
    if (isUpload) await assertNotEnded(file)
    if (!isLate(beganMs, part.written)) return this.#assertFree(part.bytes)
    await this.#inTurn(async () => {
      if (performance.now() - this.#rests.readAtMs > restsMs) await this.#readRests()
      const { rests } = this.#rests
      await this.#assertFree(sumOf(rests) - (rests.get(name) ?? 0) + part.rest)
    })
  }

  /** One upload after the other: each sees what those before it have reserved. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#lastReserved.then(work)
    this.#lastReserved = done.catch(() => undefined)
    return done
  }

  /**
   * Ends earlier uploads to the same key: one address must not fill the disk, and a client that begins again has given
   * up the earlier one. Their files are renamed first, so that an upload that completes at this moment is either
   * stored whole or ended. Files without a holder stay: the platform writes them, or a process of an earlier release,
   * which would answer 500.
   */
  async #endEarlier(name: string): Promise<void> {
    const own = partsOf(name)
    for (const other of await readdir(this.folder)) {
      const { target, order, holder } = partsOf(other)
      if (other === name || target !== own.target || !holder) continue
      // Of uploads that begin at the same time, the earlier one is ended. An order in the future is of a clock that is
      // ahead: it does not say which upload began later, and its process may have been killed.
      if (order > own.order && orderedAtMs(order) <= Date.now()) throw superseded()
      const ended = join(this.folder, randomUUID())
      try {
        await rename(join(this.folder, other), ended)
        // The process that writes the file may have it open for a while.
        await truncate(ended)
        await rm(ended)
      } catch (error) {
        unlessGone(error)
      }
    }
  }

  /**
   * The bytes that each file that is being written still needs. Uploads that send nearly nothing must not block all
   * others, so a file that is slower than `minBytesPerSecond` is left out.
   */
  async #readRests(): Promise<Map<string, number>> {
    const rests = new Map<string, number>()
    const read = async (name: string) => {
      const stats = await stat(join(this.folder, name)).catch(unlessGone)
      if (!stats || stats.mtimeMs < Date.now() - stalledMs) return
      const written = stats.blocks * 512
      if (!isLate(partsOf(name).beganMs, written)) rests.set(name, Math.max(0, stats.size - written))
    }
    await Promise.all((await readdir(this.folder)).map(read))
    this.#rests = { readAtMs: performance.now(), rests: new Map(rests) }
    return rests
  }

  async #assertFree(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder)
    if (bavail * bsize >= bytes + this.#minFreeBytes) return
    const cause = new Error(`${this.#minFreeBytes / 2 ** 20} MiB of its disk must stay free`)
    throw new BlobError('unavailable', 'the data folder cannot be used', { cause })
  }
}

function sumOf(rests: Map<string, number>, isCounted: (name: string) => boolean = () => true): number {
  return [...rests].reduce((sum, [name, rest]) => (isCounted(name) ? sum + rest : sum), 0)
}

async function assertNotEnded(file: FileHandle): Promise<void> {
  if ((await file.stat()).nlink === 0) throw superseded()
}

/** The error of an upload that was ended because another one to its address has begun. */
export function superseded(): BlobError {
  return new BlobError('superseded', 'another upload to this address has begun')
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

let files = 0

/** Of two files of machines whose clocks agree, the later one has the larger order. */
function newOrder(): string {
  return `${Date.now()}-${String(files++).padStart(9, '0')}-${randomUUID()}`
}

function orderedAtMs(order: string): number {
  return Number(order.split('-', 1))
}

/** The previous release named its files without a holder, and an earlier one without a time. */
function partsOf(name: string): { target: string; beganMs: number; order: string; holder: string } {
  const [target = '', beganMs, order = '', holder = ''] = name.split('.')
  return { target, beganMs: Number(beganMs), order, holder }
}

/** false also if the time is not known. */
function isLate(beganMs: number, written: number): boolean {
  return written < ((Date.now() - beganMs - graceMs) / 1_000) * minBytesPerSecond
}

function unlessGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}
