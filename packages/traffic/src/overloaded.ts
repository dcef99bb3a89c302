/** A queue is full, or something waited in one for as long as it may. What waited was not begun: it had no effect. */
export class Overloaded extends Error {
  readonly retryAfterSeconds = 1

  constructor(reason: string) {
    super(reason)
    this.name = 'Overloaded'
  }
}

/** Somebody else held a row that this needs for as long as may be waited. */
export class HeldElsewhere extends Overloaded {
  constructor() {
    super('another transaction holds a row that this needs')
    this.name = 'HeldElsewhere'
  }
}

/** The database got a write and its answer was lost: it may have been committed, or may still be. */
export class OutcomeUnknown extends Error {
  readonly retryAfterSeconds = 1

  constructor(cause: unknown) {
    super('the answer of the database was lost: whether the write took effect is not known', { cause })
    this.name = 'OutcomeUnknown'
  }
}
