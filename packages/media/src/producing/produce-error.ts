/**
 * What was given cannot be made into anything: not a picture, too large, too many. The message is ours and safe to
 * show.
 */
export class ProduceError extends Error {
  override readonly name = 'ProduceError'
  readonly code = 'bad_input'
}
