/** A service with a key that never leaves it. It decrypts other keys with that key. */
export interface KeyWrapping {
  /**
   * The key inside of the ciphertext.
   *
   * @throws {UnwrapError} on any failure.
   */
  unwrap(ciphertext: Buffer): Promise<Buffer>
}

/** The message contains neither the ciphertext nor a key. */
export class UnwrapError extends Error {
  override readonly name = 'UnwrapError'
  /** Whether the same request may succeed later. */
  readonly isTemporary: boolean

  constructor(message: string, { isTemporary, cause }: { isTemporary: boolean; cause?: unknown }) {
    super(message, { cause })
    this.isTemporary = isTemporary
  }
}
