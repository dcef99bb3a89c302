/** A payload that is no record. `path` is a JSON Pointer to what is wrong; the value itself is never quoted. */
export class InvalidRecord extends Error {
  override readonly name = 'InvalidRecord'
  readonly path: string

  constructor(path: string, problem: string) {
    super(`${path || '/'}: ${problem}`)
    this.path = path
  }
}
