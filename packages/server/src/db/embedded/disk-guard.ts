import { rmSync, statfsSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { randomFillSync } from 'node:crypto'
import path from 'node:path'
import { Connection } from '@atrium/traffic/postgres/connection'
import { trimLog } from './log-file.ts'

const mebibyte = 1024 * 1024
const pollIntervalMs = 500
const timeoutMs = 5_000

export interface DiskGuardOptions {
  /** PostgreSQL's files. */
  folder: string
  /** What PostgreSQL logs, such as each write that is refused on a full disk. */
  logFile: string
  /** Opens any database of it. */
  connectionString: () => string
  say: (line: string) => void
  /** With less free space than this, writing stops. */
  lowBytes?: number
  /** The size of a reserve file that is removed when the disk is full. */
  reserveBytes?: number
}

/**
 * A PostgreSQL that cannot extend its log ends all sessions and cannot even recover. This class stops writing before
 * that point: when little space is left, transactions become read-only (25006, which callers get as 503), and a
 * reserve file is removed to make space for running transactions, checkpoints and recovery. Reads continue. Writes
 * resume once there is space again. The log of PostgreSQL is kept small meanwhile.
 */
export class DiskGuard {
  readonly #options: DiskGuardOptions
  readonly #lowBytes: number
  readonly #reserveBytes: number
  readonly #reserve: string
  #timer: NodeJS.Timeout | undefined
  #full = false
  #told: 'on' | 'off' | undefined
  #looking: Promise<void> | undefined

  constructor(options: DiskGuardOptions) {
    this.#options = options
    this.#lowBytes = options.lowBytes ?? 64 * mebibyte
    this.#reserveBytes = options.reserveBytes ?? 64 * mebibyte
    this.#reserve = path.join(path.dirname(options.folder), 'postgres.reserve')
  }

  /**
   * Whether there is too little space to write. If so, removes the reserve file, so that a starting PostgreSQL can
   * recover.
   */
  checkFull(): boolean {
    const free = freeBytes(this.#options.folder)
    // Writes resume only with space for the reserve and a margin, so that the state does not toggle.
    const enough = this.#full ? 2 * this.#lowBytes + this.#reserveBytes : this.#lowBytes
    const full = free < enough
    if (full && !this.#full) rmSync(this.#reserve, { force: true })
    this.#full = full
    return full
  }

  /** Starts to watch. A database that the last process left read-only is made writable if there is space. */
  async start(): Promise<void> {
    if (!this.checkFull()) await this.#keepReserve()
    await this.#tell('off').catch(() => undefined)
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    }, pollIntervalMs).unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    try {
      const full = this.checkFull()
      await trimLog(this.#options.logFile, !full).catch(() => undefined)
      if (!full) await this.#keepReserve()
      await this.#tell(this.#full ? 'on' : 'off')
    } catch {
      // PostgreSQL does not answer. The next check tries again.
    }
  }

  async #tell(readOnly: 'on' | 'off'): Promise<void> {
    if (readOnly === this.#told) return
    const connection = await Connection.open({
      url: this.#options.connectionString(),
      connectMs: timeoutMs,
      answerMs: timeoutMs,
    })
    try {
      await connection.query(`alter system set default_transaction_read_only = ${readOnly}`)
      await connection.query('select pg_reload_conf()')
    } finally {
      await connection.end()
    }
    if (readOnly === 'on')
      this.#options.say(`The disk of ${this.#options.folder} is full: writes are rejected until there is space again`)
    else if (this.#told === 'on') this.#options.say('The disk has space again: writes are accepted')
    this.#told = readOnly
  }

  async #keepReserve(): Promise<void> {
    if (this.#reserveBytes === 0 || sizeOf(this.#reserve) === this.#reserveBytes) return
    if (freeBytes(this.#options.folder) < this.#lowBytes + 2 * this.#reserveBytes) return
    // Not synchronous, because this process also answers requests. Others use space meanwhile.
    const file = await open(this.#reserve, 'w', 0o600)
    try {
      // Random bytes, because a compressing file system would reserve nothing for zeros.
      const chunk = randomFillSync(Buffer.allocUnsafe(mebibyte))
      for (let left = this.#reserveBytes; left > 0 && !this.checkFull(); left -= chunk.length)
        await file.writeFile(chunk.subarray(0, left))
      // A reserve that is given up again takes its space until it is closed.
      if (!this.#full) await file.sync()
    } finally {
      await file.close()
    }
  }
}

/** For users other than root, as which PostgreSQL runs. */
function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size
}
