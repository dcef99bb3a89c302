/** A note, proof, tile or policy is malformed, or does not prove what it should. The message says what is wrong. */
export class LogError extends Error {
  override name = 'LogError'
}
