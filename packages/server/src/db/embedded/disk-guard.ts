import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { randomFillSync } from 'node:crypto'
import path from 'node:path'
import { Client } from 'pg'

const mebibyte = 1024 * 1024
const lookEveryMs = 500
const connectMs = 5_000

export interface DiskGuardOptions {
  /** PostgreSQL's files. */
  folder: string
  /** Opens any database of it. */
  connectionString: () => string
  say: (line: string) => void
  /** With less room than this nothing is written any more. */
  lowBytes?: number
  /** Kept back in a file, and given up when the disk is full. */
  reserveBytes?: number
}

/**
 * A PostgreSQL that cannot extend its log ends all sessions, and cannot even recover. So writing ends before: when little room is left,
 * transactions become read-only (25006, which callers get as 503), and a file that was kept back makes room for what is under way, for
 * checkpoints and for recovery. Reads go on. Once there is room again, so do writes.
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

  /** Whether there is too little room to write. Also gives up the reserve if so: for a PostgreSQL that is about to start. */
  checkFull(): boolean {
    const free = freeBytes(this.#options.folder)
    // Back only when the reserve can be made again and there is still room beside it: not on and off all the time.
    const enough = this.#full ? 2 * this.#lowBytes + this.#reserveBytes : this.#lowBytes
    const full = free < enough
    if (full && !this.#full) rmSync(this.#reserve, { force: true })
    this.#full = full
    return full
  }

  /** Begins to watch. A database that was left read-only by the last process is made writable, if there is room. */
  async start(): Promise<void> {
    if (!this.checkFull()) this.#keepReserve()
    await this.#tell('off').catch(() => undefined)
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    }, lookEveryMs).unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    try {
      const full = this.checkFull()
      if (!full) this.#keepReserve()
      await this.#tell(full ? 'on' : 'off')
    } catch {
      // PostgreSQL does not answer now: asked again soon.
    }
  }

  async #tell(readOnly: 'on' | 'off'): Promise<void> {
    if (readOnly === this.#told) return
    const client = new Client({
      connectionString: this.#options.connectionString(),
      connectionTimeoutMillis: connectMs,
      query_timeout: connectMs,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.query(`alter system set default_transaction_read_only = ${readOnly}`)
      await client.query('select pg_reload_conf()')
    } finally {
      await client.end().catch(() => undefined)
    }
    if (readOnly === 'on')
      this.#options.say(`The disk of ${this.#options.folder} is full: nothing is written until there is room again`)
    else if (this.#told === 'on') this.#options.say('There is room on the disk again: writing goes on')
    this.#told = readOnly
  }

  #keepReserve(): void {
    if (this.#reserveBytes === 0 || sizeOf(this.#reserve) === this.#reserveBytes) return
    if (freeBytes(this.#options.folder) < this.#lowBytes + 2 * this.#reserveBytes) return
    const file = openSync(this.#reserve, 'w', 0o600)
    try {
      // Random, or a file system that compresses would keep nothing back.
      const chunk = randomFillSync(Buffer.allocUnsafe(mebibyte))
      for (let left = this.#reserveBytes; left > 0; left -= chunk.length) writeSync(file, chunk, 0, Math.min(left, chunk.length))
      fsyncSync(file)
    } finally {
      closeSync(file)
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
