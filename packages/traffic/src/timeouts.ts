/**
 * The timeouts of a request. Whatever the database does, every request is answered within ten seconds: an input waits in memory (queue), then its query
 * waits for a connection and for its answer (2 + 1.5 + 6 s). The server ends a statement before its client gives it up, so the outcome of a write is
 * unknown only where the server itself is silent.
 */
export const timeouts = {
  /** For a place in a batch. */
  queueMs: 2_000,
  /** When what runs has had no answer for this time, nothing more may wait for it. */
  stalledMs: 1_000,
  /** For a place among the transactions that work on the same thing. It counts for the transaction too. */
  laneMs: 4_000,
  /** For a connection, also a new one. */
  connectionMs: 1_500,
  /** PostgreSQL ends a statement after this time. */
  statementMs: 5_000,
  /** The client gives a statement up after this time, and closes its connection. */
  answerMs: 6_000,
  /** A transaction with all its statements and tries. No statement begins after that. */
  transactionMs: 7_500,
  /** PostgreSQL ends a transaction that waits for its client for this time. */
  idleTransactionMs: 10_000,
  /** One try waits for locks inside the database, where it takes up a connection. */
  lockMs: 50,
  /** The same for a further try: long enough to get its turn among others that hold the lock for a short time each. */
  lockAgainMs: 50,
  /** All tries together. The pauses between them pass in memory. */
  lockedMs: 2_500,
} as const
