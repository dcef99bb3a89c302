/** A queue is full, or something waited too long in one. It was not begun, so it had no effect. */
export class Overloaded extends Error {
  readonly retryAfterSeconds = 1

  constructor(reason: string) {
    super(reason)
    this.name = 'Overloaded'
  }
}

/** Another transaction held a needed row for longer than the limit. */
export class HeldElsewhere extends Overloaded {
  constructor() {
    super('another transaction holds a row that this needs')
    this.name = 'HeldElsewhere'
  }
}

/** The database received a write and its answer was lost: the write may have been committed, or may still be. */
export class OutcomeUnknown extends Error {
  readonly retryAfterSeconds = 1

  constructor(cause: unknown) {
    super('the answer of the database was lost: whether the write took effect is not known', { cause })
    this.name = 'OutcomeUnknown'
  }
}
