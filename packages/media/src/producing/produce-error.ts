/**
 * The input cannot be used: it is not a picture, too large, or has too many parts. The message is written here and
 * safe to show.
 */
export class ProduceError extends Error {
  override readonly name = 'ProduceError'
  readonly code = 'bad_input'
}
