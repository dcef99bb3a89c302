import type { Db } from '#db/database.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { renewUpload, type ClaimedUpload } from './store.ts'

/** A third of a lease: one that fails is made good by the next. */
const renewEveryMs = 15_000

/** Another one checks the upload by now, or it is over. */
export class LeaseLost extends Error {}

/** The right to check an upload and to store what comes of it: kept for as long as that takes. */
export class UploadLease {
  readonly #db: Db
  readonly #upload: ClaimedUpload
  readonly #timer: NodeJS.Timeout
  /** Whether the store may still be at what it was told to keep: then the lease must lapse by itself, so that nobody else's comes in between. */
  mayStillStore = false

  constructor(db: Db, upload: ClaimedUpload) {
    this.#db = db
    this.#upload = upload
    // What goes wrong here shows when it is confirmed.
    this.#timer = setInterval(() => void renewUpload(db, upload).catch(() => {}), renewEveryMs).unref()
  }

  /** Throws LeaseLost, or else nobody else has it for the next while. */
  async confirm(): Promise<void> {
    if (!(await renewUpload(this.#db, this.#upload))) throw new LeaseLost('The upload is another check’s by now.')
  }

  /** Stores something, before and after which the lease is confirmed. */
  async store<T>(work: () => Promise<T>): Promise<T> {
    await this.confirm()
    this.mayStillStore = true
    const stored = await work().catch((error: unknown) => {
      this.mayStillStore = !(error instanceof LeaseLost || (error instanceof BlobError && error.code !== 'unavailable'))
      throw error
    })
    this.mayStillStore = false
    await this.confirm()
    return stored
  }

  /** The same bytes, of which the last come once the lease is confirmed: they make a write happen, however long the others took. */
  async *confirmedBeforeEnd(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let held: Buffer | undefined
    for await (const chunk of chunks) {
      if (held) yield held
      held = chunk
    }
    await this.confirm()
    if (held) yield held
  }

  end(): void {
    clearInterval(this.#timer)
  }
}
