import type { Db } from '#db/database.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { renewUpload, type ClaimedUpload } from './upload-store.ts'

/** A third of a lease, so that the lease survives one failed renewal. */
const renewIntervalMs = 15_000

/** The lease has expired: another check holds the upload, or the upload has ended. */
export class UploadLeaseLostError extends Error {
  override readonly name = 'UploadLeaseLostError'
}

/** The right to check an upload and to store its result, renewed for as long as that takes. */
export class UploadLease {
  readonly #db: Db
  readonly #upload: ClaimedUpload
  readonly #timer: NodeJS.Timeout
  /**
   * Whether a write may still run in the blob store although it failed here. If so, the lease must expire by itself: a
   * release would let the next check store its result before the late write does.
   */
  mayStillStore = false

  constructor(db: Db, upload: ClaimedUpload) {
    this.#db = db
    this.#upload = upload
    // confirm() reports a lost lease, so a failed renewal is ignored here.
    this.#timer = setInterval(() => void renewUpload(db, upload).catch(() => {}), renewIntervalMs).unref()
  }

  /** Throws UploadLeaseLostError if the lease is lost. Otherwise it is valid for its full time from now. */
  async confirm(): Promise<void> {
    if (!(await renewUpload(this.#db, this.#upload))) throw new UploadLeaseLostError('the lease of the upload is lost')
  }

  /** Runs a write to the blob store, and confirms the lease before and after it. */
  async store<T>(work: () => Promise<T>): Promise<T> {
    await this.confirm()
    this.mayStillStore = true
    const stored = await work().catch((error: unknown) => {
      this.mayStillStore = !(
        error instanceof UploadLeaseLostError ||
        (error instanceof BlobError && error.code !== 'unavailable')
      )
      throw error
    })
    this.mayStillStore = false
    await this.confirm()
    return stored
  }

  /**
   * Yields the same chunks, the last one only after the lease is confirmed: a write takes effect with its last chunk,
   * however late that is.
   */
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
