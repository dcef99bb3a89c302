/**
 * The time limits of a request. Whatever the database does, every request is answered within ten seconds: an input
 * waits in memory (queue), then its query waits for a connection and for its answer (2 + 1.5 + 6 s). The server ends
 * a statement before its client gives up, so the outcome of a write is unknown only if the server itself does not
 * answer.
 */
export const timeouts = {
  /** The wait for a place in a batch. */
  queueMs: 2_000,
  /** If running work has had no answer for this time, nothing else may wait for it. */
  stalledMs: 1_000,
  /**
   * The wait for a place among the transactions on the same thing. It counts towards the limit of the transaction.
   */
  laneMs: 4_000,
  /** The wait for a connection, including a new one. */
  connectionMs: 1_500,
  /** PostgreSQL ends a statement after this time. */
  statementMs: 5_000,
  /** The client gives up a statement after this time, and closes its connection. */
  answerMs: 6_000,
  /** A transaction with all its statements and attempts. No statement begins after that. */
  transactionMs: 7_500,
  /** PostgreSQL ends a transaction whose client is silent for this time. */
  idleTransactionMs: 10_000,
  /** One attempt waits for locks inside the database, where it occupies a connection. */
  lockMs: 50,
  /** The same for a further attempt: long enough to get the lock among others that hold it for a short time each. */
  lockAgainMs: 50,
  /** All attempts together. The pauses between them are spent in memory. */
  lockedMs: 2_500,
} as const
