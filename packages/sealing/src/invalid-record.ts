/** A payload that is not a record. `path` is a JSON Pointer to the problem; the value itself is never quoted. */
export class InvalidRecord extends Error {
  override readonly name = 'InvalidRecord'
  readonly path: string

  constructor(path: string, problem: string) {
    super(`${path || '/'}: ${problem}`)
    this.path = path
  }
}
